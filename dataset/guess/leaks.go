package guess

import (
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// A column that reveals the target has few values, each of many rows with one value of the
// target, of which there are few too: the target is computed from it.
const (
	revealingValues = 10
	revealingRows   = 20 // of each value, on average
)

// revealsTarget reports whether a column, other than a date, determines the target.
func (g *guesser) revealsTarget(c *sampleColumn) bool {
	if g.target < 0 || c.Kind == KindDate || c.Distinct < 2 || c.Distinct > revealingValues || revealingRows*c.Distinct > g.Rows {
		return false
	}
	y := g.columns[g.target]
	return y.Distinct > 1 && y.Distinct <= c.Distinct && relation.Determines(c.codes, len(c.values), y.codes)
}

const followsReason = "it rises or falls with the target without exception, so it may be computed from it"

// copiesTarget reports whether a column of a table of several follows the target and does not count
// periods, as that of a growing series does.
func (g *guesser) copiesTarget(c *sampleColumn) bool {
	return g.target >= 0 && len(g.columns) > 3 && !columnname.HasPeriodWord(c.Name) && g.followsTarget(c)
}

// followsTarget reports whether the numbers of a column rise or fall with the target without
// exception, as its logarithm, its rounded values or its values in another unit do, in the rows
// that have both. The rows are sorted once per column.
func (g *guesser) followsTarget(c *sampleColumn) bool {
	follows, known := g.follows[c]
	if !known {
		follows = g.compareWithTarget(c)
		g.follows[c] = follows
	}
	return follows
}

func (g *guesser) compareWithTarget(c *sampleColumn) bool {
	const leastValues = 20 // fewer may follow by chance
	target := g.columns[g.target]
	if c.Distinct < leastValues || target.Distinct < leastValues {
		return false
	}
	y, x := target.related(), c.related()
	return y.Texts+x.Texts == 0 && relation.Follows(y, x, max(leastValues, (g.observed()+1)/2))
}
