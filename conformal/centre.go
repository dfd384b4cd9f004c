package conformal

import (
	"cmp"
	"math"
	"slices"
)

// Centre subtracts from errors of forecasts the mean of those of the same horizon, then from those of each of some
// bins of the location the mean of these. Rows that are no forecasts, and errors that are not finite, stay as they are.
func Centre(errors, location []float64, horizon []int32, bins int) {
	mustMatch(len(errors), len(horizon))
	var order []int
	for i, z := range errors {
		if horizon[i] >= 1 && !math.IsNaN(z) && !math.IsInf(z, 0) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(horizon[a], horizon[b]) })
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && horizon[order[to]] == horizon[order[from]] {
			to++
		}
		subtractMean(errors, order[from:to])
		from = to
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(location[a], location[b]) })
	for k := range bins {
		subtractMean(errors, order[k*len(order)/bins:(k+1)*len(order)/bins])
	}
}

// subtractMean subtracts from the errors of some rows their mean.
func subtractMean(errors []float64, rows []int) {
	mean := 0.0
	for _, i := range rows {
		mean += errors[i] / float64(len(rows))
	}
	for _, i := range rows {
		errors[i] -= mean
	}
}
