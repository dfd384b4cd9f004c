package automatic

import (
	"cmp"
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// mostTriples is the number of effects of three modes that are offered at most.
const mostTriples = 20

// chooseTriples offers the effects of three modes of a table with four or more, with the
// chosen train and without it, if the comparison sees all rows. A train over all modes finds such
// an interaction only beside all others.
func (c *chooser) chooseTriples(ctx context.Context) error {
	if c.quick() || c.rows > c.effort.rows {
		return nil
	}
	triples := c.triples()
	if len(triples) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	candidates := []candidate{{"none", c.spec}, {"all", c.withTerms(slices.Concat(terms, triples))}}
	if c.leadingModes(terms[0]) != nil {
		candidates = append(candidates, candidate{"all, without " + terms[0].String(), c.withTerms(slices.Concat(terms[1:], triples))})
	}
	return c.compare(ctx, "effects of three modes", candidates)
}

// triples returns the effects of three of four or more modes that the data can support: their
// combinations have several rows each, and are more than those of two of the modes. It prefers
// those with the most rows.
func (c *chooser) triples() []spec.Term {
	n := len(c.modes)
	if n < 4 {
		return nil
	}
	type triple struct {
		modes        []int
		combinations int
	}
	var found []triple
	for x := range n {
		for y := x + 1; y < n; y++ {
			for z := y + 1; z < n; z++ {
				count := c.data.Combinations(x, y, z)
				most := max(c.pairs[[2]int{x, y}], c.pairs[[2]int{x, z}], c.pairs[[2]int{y, z}])
				if rowsPerSeries*float64(count) <= float64(c.rows) && float64(count) > nested*float64(most) {
					found = append(found, triple{[]int{x, y, z}, count})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b triple) int { return cmp.Compare(a.combinations, b.combinations) })
	var terms []spec.Term
	for _, t := range found[:min(len(found), mostTriples)] {
		terms = append(terms, spec.Term{Cores: [][]string{c.names(t.modes...)}})
	}
	return terms
}
