package power

import (
	"math"

	"github.com/kernel-fried-tensor/kft/solver"
)

// effectPasses is the number of backfitting passes over the effects. More do not change
// the comparison of scales.
const effectPasses = 3

// effects is an additive model of main and pair effects, each shrunk to 0 by its own
// estimated variance. It stands for the model in the choice of a scale, because it is
// fitted in milliseconds.
type effects struct {
	groups [][]int32 // by effect: the group of each row
	sizes  []int     // by effect: number of groups
	w      []float64 // weights of the rows, of mean 1
}

// allPairs is the number of modes up to which all pairs of modes have effects. Of more modes, most
// of them covariates, only pairs with four rows per combination or more have them, because their
// number grows with the square of that of the modes.
const allPairs = 8

// newEffects returns the effects of the modes and of pairs of modes.
func newEffects(o *solver.Observations) *effects {
	e := &effects{w: make([]float64, o.Len())}
	total := 0.0
	for i := range e.w {
		e.w[i] = 1
		if o.W != nil {
			e.w[i] = float64(o.W[i])
		}
		total += e.w[i]
	}
	for i := range e.w {
		e.w[i] *= float64(len(e.w)) / total
	}
	add := func(most int, key func(row int) int64) {
		numbers := map[int64]int32{}
		group := make([]int32, o.Len())
		for i := range group {
			k := key(i)
			g, known := numbers[k]
			if !known {
				g = int32(len(numbers))
				numbers[k] = g
			}
			group[i] = g
		}
		if len(numbers) > 1 && len(numbers) <= most {
			e.groups, e.sizes = append(e.groups, group), append(e.sizes, len(numbers))
		}
	}
	for _, codes := range o.Codes {
		add(o.Len(), func(row int) int64 { return int64(codes[row]) })
	}
	most := o.Len()
	if len(o.Codes) > allPairs {
		most /= 4
	}
	for a, left := range o.Codes {
		for _, right := range o.Codes[a+1:] {
			add(most, func(row int) int64 { return int64(left[row])<<32 | int64(right[row]) })
		}
	}
	return e
}

// predict fits the effects to the targets z of the rows with fit set, and returns mean and
// variance of the effects' sum at all rows.
func (e *effects) predict(z []float64, fit []bool) (predicted, variance []float64) {
	var sum, n float64
	for i, v := range z {
		if fit[i] {
			sum += e.w[i] * v
			n += e.w[i]
		}
	}
	mean := sum / n
	residual := make([]float64, len(z))
	predicted, variance = make([]float64, len(z)), make([]float64, len(z))
	for i, v := range z {
		predicted[i] = mean
		residual[i] = v - mean
	}
	values := make([][]float64, len(e.groups))
	for pass := range effectPasses {
		for k, group := range e.groups {
			if pass == 0 {
				values[k] = make([]float64, e.sizes[k])
			}
			next, spread := e.update(k, residual, values[k], fit)
			for i, g := range group {
				change := next[g] - values[k][g]
				residual[i] -= change
				predicted[i] += change
				if pass == effectPasses-1 {
					variance[i] += spread[g]
				}
			}
			values[k] = next
		}
	}
	return predicted, variance
}

// update returns the values of effect k and their variances, given residuals of the rows
// after all effects. The mean of a group with weight n is multiplied by n/(n + s2/t2),
// where the variances s2 within and t2 between groups are estimated by moments.
func (e *effects) update(k int, residual, values []float64, fit []bool) (next, spread []float64) {
	sums, weights := make([]float64, e.sizes[k]), make([]float64, e.sizes[k])
	var squares, total float64
	for i, g := range e.groups[k] {
		if fit[i] {
			r, w := residual[i]+values[g], e.w[i]
			sums[g] += w * r
			weights[g] += w
			squares += w * r * r
			total += w
		}
	}
	sumSquares, groups := 0.0, 0.0
	for g, w := range weights {
		if w > 0 {
			sumSquares += sums[g] * sums[g] / w
			groups++
		}
	}
	next, spread = make([]float64, e.sizes[k]), make([]float64, e.sizes[k])
	if !(total > 1.02*groups) {
		return next, spread // hardly any group has two rows
	}
	within := max((squares-sumSquares)/(total-groups), 1e-12*squares/total)
	between := (sumSquares - groups*within) / total
	if !(between > 0) {
		return next, spread
	}
	for g, w := range weights {
		next[g] = sums[g] / (w + within/between)
		spread[g] = within / (w + within/between)
	}
	return next, spread
}

// mean returns the weighted mean of the values of the given rows.
func (e *effects) mean(rows []int, value func(row int) float64) float64 {
	var sum, total float64
	for _, i := range rows {
		sum += e.w[i] * value(i)
		total += e.w[i]
	}
	if total == 0 {
		return math.NaN()
	}
	return sum / total
}
