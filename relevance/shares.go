package relevance

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// singlePrecision is the relative error of values of terms.
const singlePrecision = 1e-7

// Shares returns for each term, trains before series, the share cov(term, f) / var(f) of the variance of the
// field f at cells. Shares sum to 1; a term that others compensate has a negative one.
// The share of a product of terms is that of its first term, and its other terms have
// the share 0. All shares of a field that is constant but for rounding are 0. Over the ranks of a
// backend each evaluates the terms at some cells.
func Shares(b backend.Backend, f *tt.Field, codes [][]int32) []float64 {
	n, largest := len(codes[0]), 0.0
	ranks, bounds, own := backend.RanksOf(b), []int{0, n}, 0
	if ranks != nil {
		bounds, own = backend.Even(n, ranks.Size()), ranks.Rank()
	}
	from, to := bounds[own], bounds[own+1]
	columns := make([][]int32, len(codes))
	for m, column := range codes {
		columns[m] = column[from:to]
	}
	values, total := make([][]float32, len(f.Terms)+len(f.Series)), make([]float64, n)
	for k := range values {
		group := append([]int{k}, f.Partners(k)...)
		if len(group) > 1 && group[1] < k {
			continue // counted with the first term of its group
		}
		part := &tt.Field{}
		if k >= len(f.Terms) {
			part.Series, group = f.Series[k-len(f.Terms):][:1], nil
		}
		for _, j := range group {
			part.Terms = append(part.Terms, f.Terms[j])
			if len(group) > 1 {
				part.Group = append(part.Group, 0)
			}
		}
		values[k] = make([]float32, n)
		part.Evaluate(b, values[k][from:to], columns)
		if ranks != nil {
			backend.GatherValues(ranks, values[k], bounds, 1)
		}
		for i, v := range values[k] {
			total[i] += float64(v)
			largest = max(largest, math.Abs(float64(v)))
		}
	}
	mean := 0.0
	for _, v := range total {
		mean += v / float64(n)
	}
	variance, shares := 0.0, make([]float64, len(values))
	for _, v := range total {
		variance += (v - mean) * (v - mean)
	}
	if rounding := singlePrecision * largest; !(variance > float64(n)*rounding*rounding) {
		return shares
	}
	for k := range shares {
		for i, v := range values[k] {
			shares[k] += float64(v) * (total[i] - mean) / variance
		}
	}
	return shares
}
