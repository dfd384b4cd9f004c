package automatic

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// pointRows is the number of training rows up to which points and lines are offered: each row has an entry in the model, 280 bytes for
// 24 numbers. With more rows, curves are near a line where that is the truth.
const pointRows = 15_000

// choosePoints offers the points that all numeric covariates form, over which one kernel smooths: what they do
// together may be no sum of few products of curves, as the height of a place is none of its latitude and
// longitude. They are added to the terms, or take the place of the pairs that were chosen before.
func (c *chooser) choosePoints(ctx context.Context) error {
	names := c.pointCovariates()
	terms, err := c.spec.ParseTerms()
	if err != nil || len(names) < 2 {
		return err
	}
	mode := c.named(dataset.JointMode(names))
	point := []spec.Term{{Cores: [][]string{{mode.Name}}}}
	with := func(lists ...[]spec.Term) spec.Spec {
		s := c.withTerms(slices.Concat(lists...))
		s.Data.Modes = append(s.Data.Modes, mode.String())
		return s
	}
	// The first term takes what several could explain, and either order may be far behind the other.
	best, err := c.mostHelpful(ctx, pairGain/2, with(terms, point), with(point, terms))
	if err != nil || best < 0 {
		return err
	}
	placed := func(terms []spec.Term) spec.Spec {
		if best == 0 {
			return with(terms, point)
		}
		return with(point, terms)
	}
	value := "points of " + listed(names)
	candidates := []candidate{{"none", c.spec}, {value, placed(terms)}}
	if c.beforePairs > 0 && len(terms) > c.beforePairs {
		candidates = append(candidates, candidate{value + " instead of interactions", placed(terms[len(terms)-c.beforePairs:])})
	}
	return c.compareBy(ctx, "covariates together", pairGain, candidates)
}

// mostHelpful returns the specification with the least CRPS on the given division, so that it is worth fits on the others, and -1 if
// none is below that of the present one by a share.
func (c *chooser) mostHelpful(ctx context.Context, gain float64, offered ...spec.Spec) (int, error) {
	informed, err := c.informedModes()
	if err != nil {
		return -1, err
	}
	specs := append([]spec.Spec{c.spec}, offered...)
	known, all := make([]*score, len(specs)), make([]int, len(specs))
	for i, one := range specs {
		var key string
		specs[i], key = compared(one, informed)
		known[i], all[i] = c.scoreOf(key), i
	}
	c.measureAll(ctx, known, specs, all, 1, func(int) {})
	best, least := -1, 0.0
	for i, one := range known {
		switch {
		case one.err != nil && !c.skips(one.err):
			return -1, one.err
		case one.err != nil && i == 0:
			return -1, nil
		case one.err != nil:
		case i == 0:
			least = (1 - gain) * one.divisions[0]
		case one.divisions[0] < least:
			best, least = i-1, one.divisions[0]
		}
	}
	return best, nil
}

// listed names covariates, or counts them if they are many.
func listed(names []string) string {
	if len(names) > 8 {
		return fmt.Sprintf("%d covariates", len(names))
	}
	return strings.Join(names, ", ")
}

// pointCovariates returns the covariates that form points, none if points are not offered or some are computed.
func (c *chooser) pointCovariates() []string {
	if c.quick() || c.late() || c.rows > pointRows || c.data.Count(dataset.Valid) == 0 {
		return nil
	}
	var names []string
	for at, mode := range c.data.Modes() {
		switch {
		case mode.Computed():
			return nil
		case mode.Numeric() && at >= len(c.modes):
			names = append(names, mode.Name)
		}
	}
	return names
}

// named returns a mode with a name that no other has: joint, or joint2 beside a column called joint.
func (c *chooser) named(mode dataset.Mode) dataset.Mode {
	taken := func(name string) bool {
		return slices.ContainsFunc(c.data.Modes(), func(m dataset.Mode) bool { return m.Name == name })
	}
	for i, name := 2, mode.Name; taken(mode.Name); i++ {
		mode.Name = name + strconv.Itoa(i)
	}
	return mode
}
