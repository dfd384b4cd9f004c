package guess

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// leastNominal is the number of values from which integers may be tested for an order. Fewer values
// are levels in any case.
const leastNominal = 13

// isNominal reports whether integers of records are codes of entities, such as schools, rather than
// quantities: the target differs from value to value, and neighbouring values differ about as much
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
func (g *guesser) isNominal(c *sampleColumn) bool {
	const rowsPerValue = 3
	if !c.Integer || c.Missing+g.columns[g.target].Missing > 0 || c.Distinct < leastNominal || g.Rows < rowsPerValue*c.Distinct {
		return false
	}
	if 6*slices.Max(c.counts) > g.Rows { // as of counts, of which most are small
		return false
	}
	values, texts := c.numbersOrNaN()
	y := g.targetRanks()
	if texts > 0 || y == nil {
		return false
	}
	sum, squares, total := make([]float64, len(values)), 0.0, 0.0
	for row, code := range c.codes {
		sum[code] += y[row]
		squares += y[row] * y[row]
		total += y[row]
	}
	order := byValue(values)
	mean := func(k int) float64 { return sum[k] / float64(c.counts[k]) }
	all, between, steps := total/float64(g.Rows), 0.0, 0.0
	for i, k := range order {
		n := float64(c.counts[k])
		between += n * (mean(k) - all) * (mean(k) - all)
		if i > 0 {
			before := order[i-1]
			d := mean(k) - mean(before)
			steps += d * d / (1/n + 1/float64(c.counts[before]))
		}
	}
	degrees := float64(len(values) - 1)
	within := (squares - float64(g.Rows)*all*all - between) / float64(g.Rows-len(values))
	if within <= 0 {
		return false
	}
	f, q := between/degrees/within, steps/degrees/within
	return q-1 > 4*math.Sqrt(2/degrees) && q-1 > (f-1)/2
}

// targetRanks returns the rank of the target of each row, from 0 to 1, the mean one of equal
// targets, NaN for a missing one, or nil if some are no numbers.
func (g *guesser) targetRanks() []float64 {
	if g.ranks != nil {
		return g.ranks
	}
	c := g.columns[g.target]
	values, texts := c.numbersOrNaN()
	if texts > 0 {
		return nil
	}
	rank, below := make([]float64, len(values)), 0
	for _, k := range byValue(values) {
		if rank[k] = math.NaN(); math.IsNaN(values[k]) {
			continue
		}
		rank[k] = (float64(below) + float64(c.counts[k])/2) / float64(g.Rows)
		below += c.counts[k]
	}
	g.ranks = make([]float64, g.Rows)
	for row, code := range c.codes {
		g.ranks[row] = rank[code]
	}
	return g.ranks
}

// byValue returns the codes in increasing order of their numbers.
func byValue(numbers []float64) []int {
	order := make([]int, len(numbers))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	return order
}

// numbersOrNaN returns the values of a column by code, NaN for those that are no numbers, and how
// many of these are not missing.
func (c *sampleColumn) numbersOrNaN() (values []float64, texts int) {
	values = make([]float64, len(c.values))
	for code, text := range c.values {
		plain, ok := c.Numbers.AppendPlain(nil, []byte(text))
		if ok {
			values[code], ok = dataset.Number(string(plain))
		}
		if !ok {
			values[code] = math.NaN()
			if !dataset.MissingNumber(text) {
				texts++
			}
		}
	}
	return values, texts
}
