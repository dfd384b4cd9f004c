package guess

import (
	"math"
	"slices"
)

// mostTelling returns at most so many of the columns, those that explain most of the target, in their order.
func (g *guesser) mostTelling(columns []describing, most int) []describing {
	if len(columns) <= most {
		return columns
	}
	ranks := g.targetRanks()
	if ranks == nil {
		return columns[:most]
	}
	unexplained := make([]float64, len(columns))
	for i, d := range columns {
		unexplained[i] = 1 - d.column.explains(ranks)
	}
	best := byValue(unexplained)[:most]
	slices.Sort(best)
	taken := make([]describing, most)
	for i, k := range best {
		taken[i] = columns[k]
	}
	return taken
}

// explains returns the share of the variance of y that groups of rows explain, adjusted for their
// number: values of the column, or ten ranges of numbers with equally many rows, and one of missing
// values.
func (c *sampleColumn) explains(y []float64) float64 {
	const ranges = 10
	group := make([]int, len(c.values))
	if value, texts := c.numbersOrNaN(); texts == 0 && len(value) > ranges+1 {
		rows := 0
		for _, code := range byValue(value) {
			if group[code] = ranges; !math.IsNaN(value[code]) {
				group[code] = rows * ranges / len(c.codes)
				rows += c.counts[code]
			}
		}
	} else {
		for code := range group {
			group[code] = code
		}
	}
	sums, counts := make([]float64, len(group)), make([]float64, len(group))
	n, sum, squares := 0.0, 0.0, 0.0
	for row, code := range c.codes {
		if v := y[row]; !math.IsNaN(v) {
			sums[group[code]] += v
			counts[group[code]]++
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	between, groups := 0.0, 0.0
	for k, count := range counts {
		if count > 0 {
			between += sums[k] * sums[k] / count
			groups++
		}
	}
	total := squares - sum*sum/n
	if !(total > 0) || groups >= n {
		return 0
	}
	return 1 - (squares-between)/total*(n-1)/(n-groups)
}
