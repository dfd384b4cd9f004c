package fitdata

import (
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Spread returns some of n rows, evenly spaced.
func Spread(n, most int) []int {
	rows := make([]int, min(n, most))
	for i := range rows {
		rows[i] = i * n / len(rows)
	}
	return rows
}

// Thinned returns at most the given number of rows of a posterior, evenly spaced.
func Thinned(o *solver.Observations, z tt.Moments, most int) (*solver.Observations, tt.Moments) {
	if o.Len() <= most {
		return o, z
	}
	rows := Spread(o.Len(), most)
	selected := o.Select(rows)
	return &selected, z.Select(rows)
}
