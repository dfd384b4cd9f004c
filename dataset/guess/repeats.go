package guess

import (
	"fmt"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Repeats describes the rows whose cell an earlier row has.
type Repeats struct {
	Rows    int
	Equal   bool   // each has the target of the earlier row
	PutBack bool   // each is in an hour in which clocks may have been put back, see [PutBack]
	Place   string // where the first is, and the row whose cell it has; "" if unknown
}

// PutBack reports whether a time without an offset from UTC may be one that occurred twice, because
// clocks were put back: 1 to 4 o'clock on the Sunday on which summer time ends in Europe, North
// America or Australia.
func PutBack(t time.Time) bool {
	early := t.Day() <= 7 && (t.Month() == time.November || t.Month() == time.April)
	late := t.Day() >= 25 && (t.Month() == time.October || t.Month() == time.March)
	return t.Weekday() == time.Sunday && (early || late) && t.Hour() >= 1 && t.Hour() <= 3
}

// repeated counts the rows whose cell an earlier row has. Rows without a target or an id are no
// observations.
func (g *guesser) repeated(modes []sampleMode) int {
	if len(modes) == 0 {
		return max(0, g.Rows-1)
	}
	n := 0
	g.eachRepeat(modes, func(int, int) bool { n++; return true })
	return n
}

// unique reports whether repeated is 0. It ends at the first repeat.
func (g *guesser) unique(modes []sampleMode) bool {
	if len(modes) == 0 {
		return g.Rows <= 1
	}
	unique := true
	g.eachRepeat(modes, func(int, int) bool { unique = false; return false })
	return unique
}

// A crossing has the codes of the cells of some modes.
type crossing struct {
	modes    []sampleMode
	codes    []int32
	distinct int
}

// cellsOf returns the codes of the cells of some modes, and how many there are. Those of the last modes without the very last one are kept,
// because many columns of a wide table may be tried as one more mode.
func (g *guesser) cellsOf(modes []sampleMode) ([]int32, int) {
	last := len(modes) - 1
	if last == 0 || g.Rows == 0 {
		return modes[0].codes, modes[0].distinct
	}
	if !slices.EqualFunc(modes[:last], g.kept.modes, func(a, b sampleMode) bool { return &a.codes[0] == &b.codes[0] }) {
		codes, distinct := modes[0].codes, modes[0].distinct
		for _, m := range modes[1:last] {
			codes, distinct = relation.Crossed(codes, m.codes)
		}
		g.kept = crossing{slices.Clone(modes[:last]), codes, distinct}
	}
	return relation.Crossed(g.kept.codes, modes[last].codes)
}

// eachRepeat calls f with each row whose cell an earlier row has, and that row, until f returns false.
func (g *guesser) eachRepeat(modes []sampleMode, f func(row, first int) bool) {
	codes, distinct := g.cellsOf(modes)
	var columns []int // that may be empty
	for i, c := range g.columns {
		if c.empty > 0 && slices.ContainsFunc(modes, func(m sampleMode) bool { return slices.Contains(m.Columns, c.Name) }) {
			columns = append(columns, i)
		}
	}
	first := make([]int, distinct)
	for row, cell := range codes {
		if g.target >= 0 && dataset.MissingNumber(g.sample.Rows[row][g.target]) || slices.ContainsFunc(columns, func(c int) bool { return g.sample.Rows[row][c] == "" }) {
			continue
		}
		if first[cell] > 0 {
			if !f(row, first[cell]-1) {
				return
			}
		} else {
			first[cell] = row + 1
		}
	}
}

// findRepeats describes the rows whose cell of some modes an earlier row has.
func (g *guesser) findRepeats(modes []sampleMode) Repeats {
	if len(modes) == 0 {
		return Repeats{Rows: max(0, g.Rows-1)}
	}
	r := Repeats{Equal: g.target >= 0, PutBack: true}
	times := slices.DeleteFunc(slices.Clone(g.columns), func(c *sampleColumn) bool {
		return c.moments == nil || !slices.ContainsFunc(modes, func(m sampleMode) bool { return slices.Contains(m.Columns, c.Name) })
	})
	g.eachRepeat(modes, func(row, first int) bool {
		if r.Rows++; r.Rows == 1 && g.sample.Lines != nil && !g.sample.Several {
			r.Place = fmt.Sprintf("%s, after %s", dataset.Place(g.sample.Unit, g.sample.Lines[row]), dataset.Place(g.sample.Unit, g.sample.Lines[first]))
		}
		r.Equal = r.Equal && g.sample.Rows[row][g.target] == g.sample.Rows[first][g.target]
		r.PutBack = r.PutBack && slices.ContainsFunc(times, func(c *sampleColumn) bool { return PutBack(c.moments[c.codes[row]]) })
		return true
	})
	return r
}

// keepDiffering proposes to keep the rows of the same cell if half of them or more differ in
// covariates, because merged rows have those of one of them.
func (g *guesser) keepDiffering(covariates []string) {
	if g.Duplicates != "sum" && g.Duplicates != "mean" {
		return
	}
	repeated, differing := 0, 0
	g.eachRepeat(g.modes, func(row, first int) bool {
		repeated++
		for i, c := range g.columns {
			if slices.Contains(covariates, c.Name) && g.sample.Rows[row][i] != g.sample.Rows[first][i] {
				differing++
				break
			}
		}
		return true
	})
	if repeated > 0 && 2*differing >= repeated {
		g.Notes = g.Notes[:len(g.Notes)-1] // of the other rule
		g.noteDuplicates("keep", "they differ in columns that describe them")
	}
}

// ProposeDuplicates sets the rule for rows of the same cell, of which there are some,
// and says why: the last if their targets are equal, all of them if these are yes or no, the
// mean of ratings, prices, measurements and of the two values of an hour in which clocks were put
// back (the last if they are whole numbers), the sum of everything else that is counted. Where the
// parts of the rows or covariates are given, ratings are kept too, because those of a cell may
// be in different parts or have different covariates.
func (g *Guess) ProposeDuplicates(r Repeats) {
	g.Repeated = r.Rows
	if r.Place != "" && 100*r.Rows <= g.Rows { // probably a mistake
		g.repeatPlace = " (" + r.Place
		if r.Rows > 1 {
			g.repeatPlace = " (the first in " + r.Place
		}
		g.repeatPlace += ")"
	}
	g.noteDuplicates(g.duplicateRule(r))
}

// noteDuplicates sets the rule for rows of the same cell and says why.
func (g *Guess) noteDuplicates(rule, why string) {
	g.Duplicates = rule
	have := "have"
	if g.Repeated == 1 {
		have = "has"
	}
	g.Notes = append(g.Notes, fmt.Sprintf("%s %s the cell of an earlier row%s; data.duplicates is %s, because %s", plural.Count(g.Repeated, "row"), have, g.repeatPlace, rule, why))
}

// duplicateRule returns the rule for rows of the same cell, and why.
func (g *Guess) duplicateRule(r Repeats) (rule, why string) {
	rule, why = "sum", "sales and counts of the same cell add up"
	integer := slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Name == g.Target && c.Integer })
	switch {
	case r.Equal:
		rule, why = "last", "their targets are equal"
	case slices.ContainsFunc(g.Columns, func(c Column) bool { return c.Name == g.Target && c.Distinct == 2 && c.Min >= 0 && c.Max <= 1 }):
		rule, why = "keep", "each row is a trial of its own, whose mean is neither yes nor no"
	case r.PutBack && integer:
		rule, why = "last", putBackReason
	case r.PutBack:
		rule, why = "mean", putBackReason
	case columnname.HasWord(g.Target, meanWords) || columnname.IsCovariate(g.Target):
		rule, why = "mean", "a "+g.Target+" is not additive"
	case !namedAdditive(g.Target) && !integer:
		rule, why = "mean", "the target is not a count"
	}
	if rule == "mean" && g.parts {
		rule, why = "keep", "rows of a cell may be in different parts"
	} else if rule == "mean" && g.covariates {
		rule, why = "keep", "rows of a cell may have different covariates"
	}
	return rule, why
}

const putBackReason = "clocks were put back at that time, so it occurs twice; with offsets from UTC, as in 2024-10-27T02:00+01:00, both rows would count"
