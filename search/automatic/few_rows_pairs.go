package automatic

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// The least number of rows per combination of an effect of two modes that is compared with none.
const (
	fewRowsPerPair = 1.8 // three rows of each pair have 1.9 in a training set of 60 %
	fewRowsPerCell = 1.3 // where cells repeat: two rows of each have 1.4, and differ by noise only
)

// choosePairEffects offers the effects of pairs of modes that have fewer rows per combination than
// those of [chooser.effects], with the chosen train and without it, if the comparison sees all rows.
// Repeated measurements of a cell need them: a train follows their noise, or explains only a part.
func (c *chooser) choosePairEffects(ctx context.Context) error {
	if c.quick() || c.rows > c.effort.rows {
		return nil
	}
	pairs := c.pairsOfFewRows()
	if len(pairs) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	first := slices.IndexFunc(terms, func(t spec.Term) bool { return len(t.Cores) == 1 })
	if first < 0 {
		first = len(terms)
	}
	candidates := []candidate{{"none", c.spec}, {"all", c.withTerms(slices.Concat(terms[:first], pairs, terms[first:]))}}
	if first > 0 {
		candidates = append(candidates, candidate{"all, without trains", c.withTerms(slices.Concat(pairs, terms[first:]))})
	}
	return c.compare(ctx, "effects of pairs", candidates)
}

// pairsOfFewRows returns the effects of two modes that [chooser.effects] excludes for their number of rows
// only. Of several that distinguish practically all cells, which are the same effect, it has the first.
func (c *chooser) pairsOfFewRows() []spec.Term {
	var terms []spec.Term
	cells, distinguished := float64(c.data.Combinations(c.bySize(len(c.modes))...)), false
	least := fewRowsPerPair
	if fewRowsPerCell*cells <= float64(c.rows) {
		least = fewRowsPerCell
	}
	for a := range c.modes {
		for b := a + 1; b < len(c.modes); b++ {
			n := float64(c.pairs[[2]int{a, b}])
			crossed, all := n > nested*float64(max(c.sizes[a], c.sizes[b])), nested*n > cells
			if crossed && least*n <= float64(c.rows) && rowsPerPair*n > float64(c.rows) && !(all && distinguished) {
				terms = append(terms, spec.Term{Cores: [][]string{c.names(a, b)}})
				distinguished = distinguished || all
			}
		}
	}
	return terms
}
