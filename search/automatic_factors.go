package search

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// Factors that series share along time are offered to tables whose training rows span the
// longest season at least seasonsOfFactors times, from which the factors learn it. They must be
// better by leastOfFactors. A table of more than fullerRows rows has them without a comparison: a
// sample of its ids has less to share, and they were better at every origin of the largest
// samples that were compared. From fewSeasons of them on it has them in place of interactions
// with parts of the date, which cost more and were as good or worse.
const (
	seasonsOfFactors = 3.0
	fewSeasons       = 1.5
	shortSeasons     = 12 // periods of these, months or quarters of a year
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
	seasons, periods := c.data.Seasons(time)
	if seasons < seasonsOfFactors && (c.rows <= fullerRows || seasons < fewSeasons || periods > shortSeasons) {
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
	if seasons < seasonsOfFactors {
		terms = slices.DeleteFunc(terms, func(t spec.Term) bool {
			return len(t.Cores) == 2 && len(t.Cores[1]) == 1 && strings.HasPrefix(t.Cores[1][0], c.modes[time]+".")
		})
	}
	with := candidate{factors.String(), c.withTerms(append(terms, factors))}
	if c.rows > fullerRows {
		return c.compare(ctx, "factors along time", []candidate{with})
	}
	return c.compareOnMore(ctx, "factors along time", leastOfFactors, candidate{"none", c.spec}, with)
}
