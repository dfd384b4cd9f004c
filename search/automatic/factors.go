package automatic

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// Factors that series share along time are offered to tables whose training rows span the
// longest season at least seasonsOfFactors times, from which the factors learn it. They must be
// better by leastOfFactors; a table of more than fullerRows rows has them without a comparison,
// because a sample of its ids has less to share. With fewer seasons they may take the place of a
// season or a trend that other terms know better, which the validation rows do not always show.
const (
	seasonsOfFactors = 3
	leastOfFactors   = 0.004
	rankOfFactors    = 8
	modesOfFactors   = 3
)

// chooseFactors offers a train over all modes whose core of time has a prior along time.
func (c *chooser) chooseFactors(ctx context.Context) error {
	time, entities := c.data.TimeMode(), c.entities()
	if c.quick() || c.late() || c.rows < 2*c.effort.rows || len(entities) == 0 || len(entities) > modesOfFactors || !c.data.Regular(time) || c.data.Numbered(time) {
		return nil
	}
	if c.data.Seasons(time) < seasonsOfFactors {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	factors := spec.Term{Along: &spec.Series{Time: c.modes[time], Walk: true, AR: true, Season: true}}
	for _, m := range append(slices.Clone(entities), time) {
		factors.Cores = append(factors.Cores, c.names(m))
	}
	factors.Ranks = slices.Repeat([]int{rankOfFactors}, len(entities))
	with := candidate{factors.String(), c.withTerms(append(terms, factors))}
	if c.rows > fullerRows {
		return c.compare(ctx, "factors along time", []candidate{with})
	}
	return c.compareOnMore(ctx, "factors along time", leastOfFactors, candidate{"none", c.spec}, with)
}
