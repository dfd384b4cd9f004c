package guess

import (
	"fmt"
	"math"
	"slices"
)

// An id whose rows are the sums of those of the other ids, such as Total among the shops, counts
// everything twice: totals of forecasts double, and the other ids predict it without error.
const (
	leastTotalShare, mostTotalShare = 0.35, 0.55 // of the sum of the target
	leastTotals                     = 10         // sums that are compared, and different values of the target
	totalsThatAgree                 = 0.9
	totalRounding                   = 0.005 // relative, for addends that are rounded
)

// findTotals notes ids whose rows are the sums of the rows of the other ids in the same cells of the other modes.
func (g *guesser) findTotals() {
	if g.target < 0 || len(g.modes) < 2 || g.Duplicates == "keep" || g.columns[g.target].Distinct < leastTotals {
		return
	}
	y, _ := g.rowNumbers(g.columns[g.target])
	for m, mode := range g.modes {
		if mode.time || mode.Covariate() || len(mode.Columns) != 1 {
			continue
		}
		var others []string
		for k := range g.modes {
			if k != m {
				others = append(others, g.modes[k].Name)
			}
		}
		if row := g.totalRow(y, m); row >= 0 {
			column := slices.Index(g.sample.Names, mode.Columns[0])
			g.totals = append(g.totals, fmt.Sprintf("column %s: the rows of %q are the sums of the other rows of the same %s, so everything counts twice; remove these rows, because totals follow from the others",
				mode.Columns[0], g.sample.Rows[row][column], listed(others)))
		}
	}
	g.Notes = append(g.Notes, g.totals...)
}

// totalRow returns a row of the id of a mode that is the sum of the others, -1 if there is none.
func (g *guesser) totalRow(y []float64, m int) int {
	codes := g.modes[m].codes
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
	for k, mode := range g.modes {
		switch {
		case k == m:
		case cells == nil:
			cells = mode.codes
		default:
			cells, _ = crossed(cells, mode.codes)
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
	if compared < leastTotals || float64(agree) < totalsThatAgree*float64(compared) {
		return -1
	}
	return first
}
