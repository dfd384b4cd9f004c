package automatic

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseTermOrder offers other orders of the terms, if the comparison sees all rows. A sweep
// fits the terms in their order, and the first ones take what several of them could explain:
// beside a series or a train with little data the effects of covariates may vanish, or the
// other way round. The result is a maximum of the bound for each order, but not the same one.
func (c *chooser) chooseTermOrder(ctx context.Context) error {
	terms, err := c.spec.ParseTerms()
	if err != nil || c.quick() || c.rows > c.effort.rows || len(terms) < 2 {
		return err
	}
	points := c.named(dataset.JointMode(nil)).Name
	if !slices.ContainsFunc(terms, func(t spec.Term) bool {
		return flexibility(t) > 0 || len(t.Cores[0]) > 1 || t.Cores[0][0] == points
	}) {
		return nil // these effects are updated at once, so that their order hardly matters
	}
	reversed, effects := slices.Clone(terms), slices.Clone(terms)
	slices.Reverse(reversed)
	slices.SortStableFunc(effects, func(a, b spec.Term) int { return flexibility(a) - flexibility(b) })
	candidates := []candidate{{"as chosen", c.spec}}
	for _, other := range []candidate{{"reversed", c.withTerms(reversed)}, {"effects first", c.withTerms(effects)}} {
		if !slices.ContainsFunc(candidates, func(one candidate) bool { return slices.Equal(one.spec.Terms, other.spec.Terms) }) {
			candidates = append(candidates, other)
		}
	}
	return c.compare(ctx, "order of terms", candidates)
}

// flexibility returns 0 for an effect, 1 for a train and 2 for series.
func flexibility(t spec.Term) int {
	switch {
	case t.IsSeries():
		return 2
	case len(t.Ranks) > 0:
		return 1
	}
	return 0
}
