package guess

import (
	"cmp"
	"math"
	"slices"
)

// mostTelling returns at most so many of the columns, those that explain most of the target, in their order. Rows of the validation
// and test set have no say, if they are known: a few of many columns explain them by chance.
func (g *guesser) mostTelling(columns []describing, most int) []describing {
	if len(columns) <= most {
		return columns
	}
	ranks := g.targetRanks()
	if ranks == nil {
		return columns[:most]
	}
	ranks = g.trainedOnly(ranks)
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

// trainedOnly returns the ranks of the targets of the training rows among these, NaN for other rows, given the ranks among all,
// NaN for a missing target.
func (g *guesser) trainedOnly(all []float64) []float64 {
	if g.given.Trained == nil {
		return all
	}
	trained := g.given.Trained(g.sample, g.Guess)
	if trained == nil {
		return all
	}
	ranks := slices.Repeat([]float64{math.NaN()}, len(all))
	var rows []int
	for row, v := range all {
		if trained[row] && !math.IsNaN(v) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	for from, to := 0, 0; from < len(rows); from = to {
		for to = from + 1; to < len(rows) && all[rows[to]] == all[rows[from]]; {
			to++
		}
		for _, row := range rows[from:to] {
			ranks[row] = float64(from+to) / 2
		}
	}
	return ranks
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
