package guess

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// A column that is the sum of the target and another one, and columns whose sum is the target, give
// it away: casual and registered riders beside all of them, or the debit beside the balance.
const (
	mostSummed  = 40 // columns among which sums of two are looked for
	mostTriples = 12 // and those of three
	summedRows  = fewRows
	sumRounding = 1e-6 // relative to the largest of the numbers
	sumsReason  = "it and other columns add up to the target or with it in every row, so it may be computed from it"
)

// findSums finds the columns that are known to give away the target by sums of two or three columns.
func (g *guesser) findSums() {
	g.summed = map[*sampleColumn]bool{}
	if g.target < 0 || g.Rows < summedRows {
		return
	}
	y, rows := g.rowNumbers(g.columns[g.target])
	var columns []*sampleColumn
	var values [][]float64
	for i, c := range g.columns {
		if i == g.target || !c.numeric || c.Distinct < 2 || c.Kind == KindDate || c.dateUnit() != timepart.None || columnname.IsID(c.Name) || g.reserved(c) {
			continue
		}
		if x, n := g.rowNumbers(c); 2*n >= rows {
			columns, values = append(columns, c), append(values, x)
		}
	}
	if rows < summedRows || g.columns[g.target].Distinct < 3 || len(columns) > mostSummed {
		return
	}
	for a := range columns {
		for b := range columns {
			if a == b {
				continue
			}
			if b > a && sumsTo(y, values[a], values[b]) {
				g.summed[columns[a]], g.summed[columns[b]] = true, true
			}
			if sumsTo(values[a], y, values[b]) {
				g.summed[columns[a]] = true
			}
			for c := b + 1; c < len(columns) && len(columns) <= mostTriples; c++ {
				switch {
				case c == a:
				case b > a && sumsTo(y, values[a], values[b], values[c]):
					g.summed[columns[a]], g.summed[columns[b]], g.summed[columns[c]] = true, true, true
				case sumsTo(values[a], y, values[b], values[c]):
					g.summed[columns[a]] = true
				}
			}
		}
	}
}

// rowNumbers returns the numbers of a column by row, NaN where there is none, and how many there are.
func (g *guesser) rowNumbers(c *sampleColumn) (values []float64, n int) {
	byCode, _ := c.numbersOrNaN()
	values = make([]float64, g.Rows)
	for row, code := range c.codes {
		if values[row] = byCode[code]; !math.IsNaN(values[row]) {
			n++
		}
	}
	return values, n
}

// sumsTo reports whether the parts add up to the total in all rows that have all of them, which are
// many. Each part differs from 0 in some of them: a copy of the target is found otherwise.
func sumsTo(total []float64, parts ...[]float64) bool {
	seen := 0
	used := make([]int, len(parts))
	for row, all := range total {
		sum, largest := 0.0, math.Abs(all)
		for _, p := range parts {
			sum += p[row]
			largest = max(largest, math.Abs(p[row]))
		}
		if math.IsNaN(all - sum) {
			continue
		}
		if math.Abs(all-sum) > sumRounding*largest {
			return false
		}
		seen++
		for i, p := range parts {
			if p[row] != 0 {
				used[i]++
			}
		}
	}
	return seen >= summedRows && 2*seen >= len(total) && slices.Min(used) >= seen/20
}
