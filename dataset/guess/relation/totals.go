package relation

import "math"

// LeastTotals is the number of sums that are compared, and of different values of the target, from
// which a total is recognised.
const LeastTotals = 10

const (
	leastTotalShare, mostTotalShare = 0.35, 0.55 // of the sum of the target
	totalsThatAgree                 = 0.9
	totalRounding                   = 0.005 // relative, for addends that are rounded
)

// Total returns a row of the id whose rows are the sums of those of the other ids in the same cells
// of other modes, -1 if there is none. The ids have codes by row, and the other modes too.
func Total(y []float64, codes []int32, others [][]int32) int {
	sums, all := map[int32]float64{}, 0.0
	for row, v := range y {
		if !math.IsNaN(v) {
			sums[codes[row]] += v
			all += v
		}
	}
	total := int32(-1)
	for code, sum := range sums {
		if share := sum / all; len(sums) > 2 && share >= leastTotalShare && share <= mostTotalShare && (total < 0 || sum > sums[total] || sum == sums[total] && code < total) {
			total = code
		}
	}
	if total < 0 {
		return -1
	}
	var cells []int32 // of the other modes, by row
	for _, other := range others {
		if cells == nil {
			cells = other
		} else {
			cells, _ = Crossed(cells, other)
		}
	}
	type group struct {
		row          int // of the total, -1 for none
		others       int
		sum, largest float64
	}
	groups := map[int32]*group{}
	for row, v := range y {
		if math.IsNaN(v) {
			continue
		}
		c := groups[cells[row]]
		if c == nil {
			c = &group{row: -1}
			groups[cells[row]] = c
		}
		if codes[row] == total {
			c.row = row
			continue
		}
		c.sum += v
		c.largest = max(c.largest, math.Abs(v))
		c.others++
	}
	compared, agree, first := 0, 0, -1
	for _, c := range groups {
		if c.row < 0 || c.others < 2 || c.largest == 0 {
			continue
		}
		compared++
		if math.Abs(y[c.row]-c.sum) <= totalRounding*math.Abs(c.sum) {
			agree++
		}
		if first < 0 || c.row < first {
			first = c.row
		}
	}
	if compared < LeastTotals || float64(agree) < totalsThatAgree*float64(compared) {
		return -1
	}
	return first
}
