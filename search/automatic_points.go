package search

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// pointRows is the number of training rows up to which points are offered: each has an entry in the model.
const pointRows = 15_000

// choosePoints offers the points that all numeric covariates form, over which one kernel smooths: what they do
// together may be no sum of few products of curves, as the height of a place is none of its latitude and
// longitude. They are added to the terms, or take the place of the pairs that were chosen before.
func (c *chooser) choosePoints(ctx context.Context) error {
	names := c.pointCovariates()
	if c.quick() || c.late() || c.rows > pointRows || len(names) < 2 || c.data.Count(dataset.Valid) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	mode := dataset.JointMode(names)
	point := spec.Term{Cores: [][]string{{mode.Name}}}
	with := func(terms []spec.Term) spec.Spec {
		s := c.withTerms(append(slices.Clip(terms), point))
		s.Data.Modes = append(s.Data.Modes, mode.String())
		return s
	}
	if better, err := c.mayHelp(ctx, with(terms), pairGain/2); err != nil || !better {
		return err
	}
	value := "points of " + strings.Join(names, ", ")
	candidates := []candidate{{"none", c.spec}, {value, with(terms)}}
	if c.beforePairs > 0 && len(terms) > c.beforePairs {
		candidates = append(candidates, candidate{value + " instead of interactions", with(terms[len(terms)-c.beforePairs:])})
	}
	return c.compareBy(ctx, "covariates together", pairGain, candidates)
}

// mayHelp reports whether a specification is better than the present one on the given division, by a share of the CRPS, so that
// it is worth fits on the others.
func (c *chooser) mayHelp(ctx context.Context, s spec.Spec, gain float64) (bool, error) {
	informed, err := c.informedModes()
	if err != nil {
		return false, err
	}
	specs, known := []spec.Spec{c.spec, s}, make([]*score, 2)
	for i, one := range specs {
		var key string
		specs[i], key = compared(one, informed)
		known[i] = c.scoreOf(key)
	}
	c.measureAll(ctx, known, specs, []int{0, 1}, 1, func(int) {})
	for _, one := range known {
		if one.err != nil {
			if c.skips(one.err) {
				return false, nil
			}
			return false, one.err
		}
	}
	return known[1].divisions[0] < (1-gain)*known[0].divisions[0], nil
}

// pointCovariates returns the covariates that form points, none if the modes have no place for these.
func (c *chooser) pointCovariates() []string {
	var names []string
	for at, mode := range c.data.Modes() {
		switch {
		case mode.Computed() || mode.Name == dataset.JointMode(nil).Name:
			return nil
		case mode.Numeric() && at >= len(c.modes):
			names = append(names, mode.Name)
		}
	}
	return names
}
