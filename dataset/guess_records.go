package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

const (
	recordsPerCell = 3  // rows per cell, in the mean, from which rows are records
	mostRecorded   = 12 // columns of records that become covariates
	fewDescribing  = 4  // columns from which rows are records, even if the target has the name of something that is sold
)

// keepRecords proposes to keep the rows of a table of records, such as the answers of persons, and to take their other columns as
// covariates: few combinations of ids have many rows each, which differ in what else is known about them. Without such columns rows
// are kept if their means would be too few to learn from, and with given modes they are kept without covariates. A table with a time
// has cells of its periods.
func (g *guesser) keepRecords() {
	cells := g.Rows - g.Repeated
	if g.target < 0 || g.Repeated == 0 || g.Rows < recordsPerCell*cells || g.given.Described || g.hasTime() {
		return
	}
	var describing []string
	for i, c := range g.columns {
		switch {
		case i == g.target || !g.describesRecord(c):
		case g.followsTarget(c):
			c.reason, c.covariate = "it rises or falls with the target without exception, so it may be computed from it", false
		default:
			describing = append(describing, LeftOut{Column: c.Name}.Mode().String())
		}
	}
	if !g.recordRule(len(describing)) || len(describing) == 0 && cells >= fewRows {
		return
	}
	g.Notes = g.Notes[:len(g.Notes)-1] // of the rule for rows of a cell
	g.Duplicates = "keep"
	note := fmt.Sprintf("there are %s for each combination of ids, so each row is taken for a record of its own (data.duplicates is keep)", plural.Count(g.Rows/cells, "row"))
	if len(describing) > 0 && len(g.given.Modes) == 0 {
		g.Covariates = describing[:min(len(describing), mostRecorded)]
		note += ", and columns in which such rows differ for covariates; data.covariates chooses others"
		if more := len(describing) - mostRecorded; more > 0 {
			note += fmt.Sprintf(", also the %s after the first %d", plural.Count(more, "column"), mostRecorded)
		}
	}
	g.Notes = append(g.Notes, note)
}

func (g *guesser) hasTime() bool {
	return slices.ContainsFunc(g.modes, func(m sampleMode) bool { return m.time })
}

// recordRule reports whether the proposed rule for rows of a cell is one that records with some describing columns may have:
// quantities with the name of something sold or counted add up, unless much is known about each row, and equal targets are copies.
func (g *guesser) recordRule(describing int) bool {
	switch g.Duplicates {
	case "keep", "mean":
		return true
	case "sum":
		return describing >= fewDescribing || !nameHasWord(g.Target, targetWords)
	}
	return false
}

// describesRecord reports whether a column that is no mode says something about single rows.
func (g *guesser) describesRecord(c *sampleColumn) bool {
	switch {
	case g.reserved(c) || c.Distinct < 2 || 2*(c.empty+c.Missing) > g.Rows || c.NotNumbers > 0 || c.Unit != "" || c.ambiguous:
		return false
	case c.Kind == KindDate || g.revealsTarget(c):
		return false
	case c.Kind == KindID && (!c.numeric || namedID(c.Name)) && !g.repeats(c.Distinct) || c.Kind == KindText:
		return false
	}
	mode := slices.ContainsFunc(g.modes, func(m sampleMode) bool { return slices.Contains(m.Columns, c.Name) })
	return !mode && g.determiningMode(c) == ""
}

// followsTarget reports whether the numbers of a column rise or fall with the target without exception, as its logarithm does.
func (g *guesser) followsTarget(c *sampleColumn) bool {
	const leastValues = 20 // fewer may follow by chance
	y, ok := g.columns[g.target].numbers()
	if !ok || c.Distinct < leastValues || len(y) < leastValues {
		return false
	}
	x, ok := c.numbers()
	if !ok {
		return false
	}
	order := make([]int, g.Rows)
	for i := range order {
		order[i] = i
	}
	of := func(row int) (float64, float64) { return y[g.columns[g.target].codes[row]], x[c.codes[row]] }
	slices.SortFunc(order, func(a, b int) int {
		ya, xa := of(a)
		yb, xb := of(b)
		return cmp.Or(cmp.Compare(ya, yb), cmp.Compare(xa, xb))
	})
	rises, falls := true, true
	for i := 1; i < len(order); i++ {
		yb, xb := of(order[i-1])
		ya, xa := of(order[i])
		if (ya == yb) != (xa == xb) {
			return false
		}
		rises, falls = rises && xa >= xb, falls && xa <= xb
	}
	return rises || falls
}

// numbers returns the values of a column by code, if all are plain numbers.
func (c *sampleColumn) numbers() ([]float64, bool) {
	out := make([]float64, len(c.values))
	for i, text := range c.values {
		v, ok := Number(text)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}
