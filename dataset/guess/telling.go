package guess

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
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
		unexplained[i] = 1 - relation.Explained(ranks, d.column.related())
	}
	best := relation.ByValue(unexplained)[:most]
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
