package conformal

import (
	"cmp"
	"math"
	"slices"
)

// Centre subtracts from errors of forecasts what those of the same horizon have in common, then from those of each of some
// bins of the location their mean. Rows that are no forecasts, and errors that are not finite, stay as they are.
//
// The effect of a horizon is the posterior mean of one that is normal, with the variance that the analysis of variance
// finds: the mean of a few errors is mostly their own, and would take from their size. The errors of a horizon are
// enlarged by what its effect takes nevertheless.
func Centre(errors, location []float64, horizon []int32, bins int) {
	mustMatch(len(errors), len(horizon))
	var order []int
	for i, z := range errors {
		if horizon[i] >= 1 && !math.IsNaN(z) && !math.IsInf(z, 0) {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(horizon[a], horizon[b]) })
	subtractMean(errors, order)
	var groups [][]int
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && horizon[order[to]] == horizon[order[from]] {
			to++
		}
		groups = append(groups, order[from:to])
		from = to
	}
	shared, own := componentsOfVariance(errors, groups)
	for _, rows := range groups {
		n := float64(len(rows))
		if shared == 0 {
			break
		}
		shrunk := shared / (shared + own/n)
		effect, size := shrunk*meanOf(errors, rows), 1/math.Sqrt(max(1-shrunk/n, leastVariance))
		for _, i := range rows {
			errors[i] = (errors[i] - effect) * size
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(location[a], location[b]) })
	for k := range bins {
		subtractMean(errors, order[k*len(order)/bins:(k+1)*len(order)/bins])
	}
}

// componentsOfVariance returns the variance of the effects of groups and that of the errors within them, from the mean
// squares of the analysis of variance. Groups of one error each tell neither apart, so that there are no effects.
func componentsOfVariance(errors []float64, groups [][]int) (shared, own float64) {
	var n, squares, within, between float64
	for _, rows := range groups {
		m, mean := float64(len(rows)), meanOf(errors, rows)
		n, squares, between = n+m, squares+m*m, between+m*mean*mean
		for _, i := range rows {
			within += (errors[i] - mean) * (errors[i] - mean)
		}
	}
	k := float64(len(groups))
	if k < 2 || n == k {
		return 0, 0
	}
	own = within / (n - k)
	return max(0, (between/(k-1)-own)/((n-squares/n)/(k-1))), own
}

func meanOf(errors []float64, rows []int) float64 {
	mean := 0.0
	for _, i := range rows {
		mean += errors[i] / float64(len(rows))
	}
	return mean
}

// subtractMean subtracts from the errors of some rows their mean.
func subtractMean(errors []float64, rows []int) {
	mean := meanOf(errors, rows)
	for _, i := range rows {
		errors[i] -= mean
	}
}
