package relation

import (
	"cmp"
	"math"
	"slices"
)

// Follows reports whether the numbers of x rise or fall with those of y without exception in the rows
// that have both, which are at least leastRows. These rows are sorted once or twice.
func Follows(y, x Column, leastRows int) bool {
	of := func(row int) (float64, float64) { return y.Values[y.Codes[row]], x.Values[x.Codes[row]] }
	var order []int // rows with both
	for row := range y.Codes {
		if a, b := of(row); !math.IsNaN(a) && !math.IsNaN(b) {
			order = append(order, row)
		}
	}
	if len(order) < leastRows {
		return false
	}
	for _, sign := range []float64{1, -1} {
		slices.SortFunc(order, func(a, b int) int {
			ya, xa := of(a)
			yb, xb := of(b)
			return cmp.Or(cmp.Compare(ya, yb), cmp.Compare(sign*xa, sign*xb))
		})
		follows := true
		for i := 1; i < len(order) && follows; i++ {
			_, before := of(order[i-1])
			_, after := of(order[i])
			follows = sign*after >= sign*before
		}
		if follows {
			return true
		}
	}
	return false
}
