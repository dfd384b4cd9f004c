package guess

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
)

// leastNominal is the number of values from which integers may be tested for an order. Fewer values
// are levels in any case.
const leastNominal = 13

// isNominal reports whether integers of records are codes of entities, such as schools, rather than
// quantities, see [relation.Nominal]. The cost is that of sorting the rows.
func (g *guesser) isNominal(c *sampleColumn) bool {
	const rowsPerValue = 3
	if !c.Integer || c.Missing+g.columns[g.target].Missing > 0 || c.Distinct < leastNominal || g.Rows < rowsPerValue*c.Distinct {
		return false
	}
	if 6*slices.Max(c.counts) > g.Rows { // as of counts, of which most are small
		return false
	}
	numbers := c.related()
	y := g.targetRanks()
	return numbers.Texts == 0 && y != nil && relation.Nominal(numbers, y)
}

// targetRanks returns the rank of the target of each row, from 0 to 1, the mean one of equal
// targets, NaN for a missing one, or nil if some are no numbers.
func (g *guesser) targetRanks() []float64 {
	if g.ranks != nil {
		return g.ranks
	}
	if target := g.columns[g.target].related(); target.Texts == 0 {
		g.ranks = relation.Ranks(target)
	}
	return g.ranks
}

// related returns the numbers of a column, to compare them with others.
func (c *sampleColumn) related() relation.Column {
	values, texts := c.numbersOrNaN()
	return relation.Column{Values: values, Texts: texts, Codes: c.codes, Counts: c.counts}
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
