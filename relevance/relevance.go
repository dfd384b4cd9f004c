// Package relevance finds out which parts of a field the data supports: the
// components of trains that the evidence bound can do without, and the share of each
// term in the variance of the field.
package relevance

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A train over cores 1, ..., P has P-1 bonds. A component of a bond is one column of
// the core before it and the same row of the core after it. The train is the sum over
// the components of any one bond.

// Evidence holds the residuals of observations and their precisions: their weights
// divided by the noise variance.
type Evidence struct{ Residual, Precision []float64 }

// gain returns how much the log likelihood falls without a part of the field, given
// its values: values[n*stride+at].
func (e *Evidence) gain(values []float32, stride, at int) float64 {
	sum := 0.0
	for n, r := range e.Residual {
		g := float64(values[n*stride+at])
		sum += e.Precision[n] * g * (2*r + g)
	}
	return sum / 2
}

// Supported returns the components of a bond that the data supports, in increasing
// order, given the entities of the observations, one column per core. Removing a
// component with values g and divergence KL from the prior changes the evidence bound
// by KL - 1/2 sum_n p_n ((r_n + g_n)^2 - r_n^2), where r are the residuals and p the
// precisions. A component is supported if its loss lowers the bound by least or more.
// Variances are not counted, which is in favour of the component.
//
// The component with the lowest gain is removed first, and the residuals of e take up
// its values before the next is measured: components may cancel each other. At least
// one is kept.
func Supported(b backend.Backend, t *tt.Train, bond int, entities [][]int32, e *Evidence, least float64) []int {
	values, divergence := componentValues(b, t, bond, entities), divergences(b.Threads(), t, bond)
	rank := len(divergence)
	keep := make([]int, rank)
	for c := range keep {
		keep[c] = c
	}
	gain := make([]float64, rank)
	for len(keep) > 1 {
		backend.ParallelFor(b, len(keep), func(i int) { gain[keep[i]] = e.gain(values, rank, keep[i]) - divergence[keep[i]] })
		worst := 0
		for i, c := range keep {
			if gain[c] < gain[keep[worst]] {
				worst = i
			}
		}
		c := keep[worst]
		if !(gain[c] < least) {
			break
		}
		for n := range e.Residual {
			e.Residual[n] += float64(values[n*rank+c])
		}
		keep = append(keep[:worst], keep[worst+1:]...)
	}
	return keep
}

// componentValues returns the mean of each component of a bond at cells:
// values[cell*rank+component].
func componentValues(b backend.Backend, t *tt.Train, bond int, entities [][]int32) []float32 {
	rank, n := t.Cores[bond].Slices.Right, len(entities[0])
	values := make([]float32, n*rank)
	backend.ParallelFor(b, n, func(i int) {
		left, right := []float32{1}, []float32{1}
		for p := 0; p <= bond; p++ {
			s := &t.Cores[p].Slices
			next, slice := make([]float32, s.Right), s.Mean[int(entities[p][i])*s.Slice():][:s.Slice()]
			for a, x := range left {
				for c, g := range slice[a*s.Right:][:s.Right] {
					next[c] += x * g
				}
			}
			left = next
		}
		for p := len(t.Cores) - 1; p > bond; p-- {
			s := &t.Cores[p].Slices
			next, slice := make([]float32, s.Left), s.Mean[int(entities[p][i])*s.Slice():][:s.Slice()]
			for a := range next {
				for c, g := range slice[a*s.Right:][:s.Right] {
					next[a] += g * right[c]
				}
			}
			right = next
		}
		for c := range rank {
			values[i*rank+c] = left[c] * right[c]
		}
	})
	return values
}

// divergences returns for each component of a bond the part of the Kullback-Leibler
// divergence of the posterior from the prior that disappears with the component.
// Covariances between weights are taken as zero, and regressions with covariances over
// a mode do not count; both are in favour of the component.
func divergences(threads int, t *tt.Train, bond int) []float64 {
	total := make([]float64, t.Cores[bond].Slices.Right)
	for p, c := range t.Cores[bond:][:2] {
		size, right := c.Slices.Slice(), c.Slices.Right
		for _, b := range c.Blocks() {
			if b.Posterior == nil || b.Posterior.Var == nil {
				continue
			}
			rows := c.TrainedEntities()
			if b.Map != nil {
				rows = b.Map.Rows()
			}
			if b.Along != nil {
				for i, v := range b.Along.Divergences() {
					component := i % right
					if p == 1 {
						component = i / right
					}
					total[component] += v
				}
				continue
			}
			tau, mu := float64(b.Posterior.PriorVar[0]), b.Posterior.PriorMean
			sums := parallel.Reduce(threads, rows*size, func(from, to int) []float64 {
				sum := make([]float64, len(total))
				for i := from; i < to; i++ {
					d, s := float64(b.Value[i])-mu, float64(b.Posterior.Var[i])
					component := i % right
					if p == 1 {
						component = i % size / right
					}
					sum[component] += ((d*d+s)/tau - 1 - math.Log(s/tau)) / 2
				}
				return sum
			}, addTo)
			for component, sum := range sums {
				total[component] += sum
			}
		}
	}
	return total
}

func addTo(a, b []float64) []float64 {
	for i, v := range b {
		a[i] += v
	}
	return a
}

// DifferenceError returns the standard error of the difference between the weighted mean
// squared errors of two predictions f and g of y. Weights may be nil, which means 1.
func DifferenceError(y, w, f, g []float32) float64 {
	sum, squares, total := 0.0, 0.0, 0.0
	for i, v := range y {
		weight, first, second := 1.0, float64(v)-float64(f[i]), float64(v)-float64(g[i])
		if w != nil {
			weight = float64(w[i])
		}
		d := weight * (first*first - second*second)
		sum, squares, total = sum+d, squares+d*d, total+weight
	}
	return math.Sqrt(max(0, squares-sum*sum/float64(len(y)))) / total
}
