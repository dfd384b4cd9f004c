package dataset

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// equalRepeats reports whether the rows of a cell all have the same target.
func (g *guesser) equalRepeats() bool {
	if g.target < 0 {
		return false
	}
	equal := true
	g.eachRepeat(g.modes, func(row, first int) {
		equal = equal && g.sample.Rows[row][g.target] == g.sample.Rows[first][g.target]
	})
	return equal
}

// ProposeDuplicates sets the rule for rows of the same cell, of which there are some,
// and says why: the last if their targets are equal, all of them if these are yes or no, the
// mean of ratings, prices and measurements, the sum of everything that is counted. Where the
// parts of the rows or covariates are given, ratings are kept too, because those of a cell may
// be in different parts or have different covariates.
func (g *Guess) ProposeDuplicates(repeated int, equal bool) {
	rule, why := "sum", "sales and counts of the same cell add up"
	integer := slices.ContainsFunc(g.Columns, func(c ColumnInfo) bool { return c.Name == g.Target && c.Integer })
	switch {
	case equal:
		rule, why = "last", "their targets are equal"
	case slices.ContainsFunc(g.Columns, func(c ColumnInfo) bool { return c.Name == g.Target && c.Distinct == 2 && c.Min >= 0 && c.Max <= 1 }):
		rule, why = "keep", "each row is a trial of its own, whose mean is neither yes nor no"
	case nameHasWord(g.Target, meanWords) || namedCovariate(g.Target):
		rule, why = "mean", "a "+g.Target+" is not additive"
	case !nameHasWord(g.Target, targetWords) && !integer:
		rule, why = "mean", "the target is not a count"
	}
	if rule == "mean" && g.parts {
		rule, why = "keep", "rows of a cell may be in different parts"
	} else if rule == "mean" && g.covariates {
		rule, why = "keep", "rows of a cell may have different covariates"
	}
	g.Duplicates, g.Repeated = rule, repeated
	have := "have"
	if repeated == 1 {
		have = "has"
	}
	g.Notes = append(g.Notes, fmt.Sprintf("%s %s the cell of an earlier row; data.duplicates is %s, because %s", plural.Count(repeated, "row"), have, rule, why))
}
