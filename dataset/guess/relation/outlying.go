package relation

import (
	"cmp"
	"math"
	"slices"
)

const (
	leastOutlyingRows = 100  // with values other than the median
	outlyingShare     = 500  // one row in so many at most
	leastOutlyingGap  = 4.6  // logarithm of 100
	outlyingTails     = 12.0 // by chance one heavy tail in e^12 has such a gap
)

// Outlying returns the rows of a few values that are so much further from the median than all others that not
// even a heavy tail explains it, in the order of the rows. If the distances d(1) >= d(2) >= ... have a tail with the
// density x^(-1-1/m), log d(k) - log d(k+1) is exponential with mean m/k; m is estimated from the r largest distances below
// the gap (Hill):
//
//	m = 1/r sum_i log d(k+i) - log d(k+r+1),   i = 1..r.
func Outlying(y []float64) []int {
	var sorted []float64
	for _, v := range y {
		if !math.IsNaN(v) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	type distance struct {
		log float64
		row int
	}
	var far []distance
	for row, v := range y {
		if len(sorted) > 0 && v != sorted[len(sorted)/2] && !math.IsNaN(v) {
			far = append(far, distance{math.Log(math.Abs(v - sorted[len(sorted)/2])), row})
		}
	}
	if len(far) < leastOutlyingRows {
		return nil
	}
	slices.SortFunc(far, func(a, b distance) int { return cmp.Or(cmp.Compare(b.log, a.log), a.row-b.row) })
	k, gap := 0, leastOutlyingGap
	for at := 1; at <= max(3, len(far)/outlyingShare); at++ {
		if g := far[at-1].log - far[at].log; g > gap {
			k, gap = at, g
		}
	}
	r := len(far) / 10
	tail := 0.0
	for _, d := range far[k : k+r] {
		tail += (d.log - far[k+r].log) / float64(r)
	}
	if k == 0 || gap < outlyingTails*tail {
		return nil
	}
	var rows []int
	for _, d := range far[:k] {
		rows = append(rows, d.row)
	}
	slices.Sort(rows)
	return rows
}
