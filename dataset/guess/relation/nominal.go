package relation

import (
	"cmp"
	"math"
	"slices"
)

// Nominal reports whether the numbers of a column are codes of entities, such as schools, rather than
// quantities: the target, by row, differs from value to value, and neighbouring values differ about as much
// as any two.
//
// With the ranks y of the target, their mean m(k) of the n(k) rows of the k-th value in ascending
// order, K values, and the mean square W within values,
//
//	F = sum n(k) (m(k) - m)^2 / ((K - 1) W)
//	Q = sum (m(k+1) - m(k))^2 / (1/n(k) + 1/n(k+1)) / ((K - 1) W)
//
// both are about 1 if the target does not depend on the value, F alone is larger for a smooth
// dependence, and both are larger alike if the order of values means nothing. The cost is that of
// sorting the rows.
func Nominal(c Column, y []float64) bool {
	rows, values := float64(len(y)), c.Values
	sum, squares, total := make([]float64, len(values)), 0.0, 0.0
	for row, code := range c.Codes {
		sum[code] += y[row]
		squares += y[row] * y[row]
		total += y[row]
	}
	order := ByValue(values)
	mean := func(k int) float64 { return sum[k] / float64(c.Counts[k]) }
	all, between, steps := total/rows, 0.0, 0.0
	for i, k := range order {
		n := float64(c.Counts[k])
		between += n * (mean(k) - all) * (mean(k) - all)
		if i > 0 {
			before := order[i-1]
			d := mean(k) - mean(before)
			steps += d * d / (1/n + 1/float64(c.Counts[before]))
		}
	}
	degrees := float64(len(values) - 1)
	within := (squares - rows*all*all - between) / float64(len(y)-len(values))
	if within <= 0 {
		return false
	}
	f, q := between/degrees/within, steps/degrees/within
	return q-1 > 4*math.Sqrt(2/degrees) && q-1 > (f-1)/2
}

// Ranks returns the rank of the number of each row, from 0 to 1, the mean one of equal numbers, NaN for
// a missing one.
func Ranks(c Column) []float64 {
	rows := len(c.Codes)
	rank, below := make([]float64, len(c.Values)), 0
	for _, k := range ByValue(c.Values) {
		if rank[k] = math.NaN(); math.IsNaN(c.Values[k]) {
			continue
		}
		rank[k] = (float64(below) + float64(c.Counts[k])/2) / float64(rows)
		below += c.Counts[k]
	}
	ranks := make([]float64, rows)
	for row, code := range c.Codes {
		ranks[row] = rank[code]
	}
	return ranks
}

// ByValue returns the codes in increasing order of their numbers.
func ByValue(numbers []float64) []int {
	order := make([]int, len(numbers))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	return order
}
