package guess

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// A column that is the sum or the product of the target and another one, and columns whose sum or product is the target, give
// it away: casual and registered riders beside all of them, the debit beside the balance, or units beside the revenue. Of two factors a
// price may stay, because it may be known beforehand.
const (
	mostSummed   = 40 // columns among which sums are looked for
	summedRows   = fewRows
	sumsReason   = "it and other columns add up to the target or with it in every row, so it may be computed from it"
	factorReason = "with it and %s the target can be computed, as a product, in every row"
)

// findSums finds the columns that are known to give away the target by sums of two or three columns, or by products of two.
func (g *guesser) findSums() {
	g.computed = map[*sampleColumn]string{}
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
	for i, summed := range relation.Summed(y, values, summedRows) {
		if summed {
			g.computed[columns[i]] = sumsReason
		}
	}
	for _, p := range relation.Products(y, values, summedRows) {
		if a, b := columns[p.Column], columns[p.Other]; !p.Factor || computedFrom(a) >= computedFrom(b) {
			g.computed[a] = fmt.Sprintf(factorReason, b.Name)
		}
	}
}

// computedFrom orders factors of a target by how likely they are known only with it: first a quotient such as the price per carat
// of a stone, then units beside their price.
func computedFrom(c *sampleColumn) int {
	switch {
	case columnname.HasWord(c.Name, []string{"per", "ratio"}):
		return 2
	case columnname.IsCovariate(c.Name):
		return 0
	}
	return 1
}

// findTotals notes ids whose rows are the sums of the rows of the other ids in the same cells of the other modes,
// such as Total among the shops. They count everything twice: totals of forecasts double, and the other ids predict them without error.
func (g *guesser) findTotals() {
	if g.target < 0 || len(g.modes) < 2 || g.Duplicates == "keep" || g.columns[g.target].Distinct < relation.LeastTotals {
		return
	}
	y, _ := g.rowNumbers(g.columns[g.target])
	for m, mode := range g.modes {
		if mode.time || mode.Covariate() || len(mode.Columns) != 1 {
			continue
		}
		var others []string
		var codes [][]int32
		for k := range g.modes {
			if k != m {
				others, codes = append(others, g.modes[k].Name), append(codes, g.modes[k].codes)
			}
		}
		if row := relation.Total(y, mode.codes, codes); row >= 0 {
			column := slices.Index(g.sample.Names, mode.Columns[0])
			g.totals = append(g.totals, fmt.Sprintf("column %s: the rows of %q are the sums of the other rows of the same %s, so everything counts twice; remove these rows, because totals follow from the others",
				mode.Columns[0], g.sample.Rows[row][column], listed(others)))
		}
	}
	g.Notes = append(g.Notes, g.totals...)
}

// findOutliers notes targets that are as far from all others as errors of data entry are, unless they are most rows of an id.
func (g *guesser) findOutliers() {
	if g.target < 0 {
		return
	}
	c := g.columns[g.target]
	y, _ := g.rowNumbers(c)
	rows := relation.Outlying(y)
	if _, same := c.placeholder(); same > 0 || len(rows) == 0 {
		return
	}
	for _, mode := range g.modes {
		all, outlying := map[int32]int{}, map[int32]int{}
		for _, code := range mode.codes {
			all[code]++
		}
		for _, row := range rows {
			code := mode.codes[row]
			if outlying[code]++; all[code] > 1 && 2*outlying[code] >= all[code] {
				return
			}
		}
	}
	first, remedy := c.values[c.codes[rows[0]]]+g.inLine(rows[0]), "; if that is an error, correct it, leave the target empty or write NA"
	if len(rows) == 1 {
		g.Notes = append(g.Notes, fmt.Sprintf("the value %s of the target %s is far from all others%s", first, c.Name, remedy))
		return
	}
	g.Notes = append(g.Notes, fmt.Sprintf("%d values of the target %s, such as %s, are far from all others%s", len(rows), c.Name, first, remedy))
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
