package automatic

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// linearGain is the share of the CRPS by which a linear function must be better.
const linearGain = 0.005

// chooseLinear offers a linear function of all numeric covariates, whose coefficients share one variance. Where
// each of many covariates tells little, the variance of its own curve vanishes, and that of all of them does not.
func (c *chooser) chooseLinear(ctx context.Context) error {
	names := c.pointCovariates()
	terms, err := c.spec.ParseTerms()
	if err != nil || len(names) < 2 {
		return err
	}
	mode := c.named(dataset.LinearMode(names))
	line := []spec.Term{{Cores: [][]string{{mode.Name}}}}
	with := func(terms []spec.Term) spec.Spec {
		s := c.withTerms(slices.Concat(line, terms))
		s.Data.Modes = append(s.Data.Modes, mode.String())
		return s
	}
	value := "of " + listed(names)
	candidates := []candidate{{"none", c.spec}, {value, with(terms)}}
	// Interactions may have been chosen only because there was no line yet.
	curve := func(t spec.Term) bool { return len(t.Cores) == 1 && len(t.Cores[0]) == 1 }
	without := func(instead string, gone func(t spec.Term) bool) {
		rest := slices.DeleteFunc(slices.Clone(terms), func(t spec.Term) bool { return uses(t, names) && gone(t) })
		if s := with(rest); len(rest) < len(terms) && !slices.ContainsFunc(candidates, func(o candidate) bool { return slices.Equal(o.spec.Terms, s.Terms) }) {
			candidates = append(candidates, candidate{value + " instead of " + instead, s})
		}
	}
	without("curves", curve)
	without("interactions", func(t spec.Term) bool { return !curve(t) })
	without("curves and interactions", func(spec.Term) bool { return true })
	offered := make([]spec.Spec, len(candidates)-1)
	for i, one := range candidates[1:] {
		offered[i] = one.spec
	}
	// Few validation rows hardly tell whether it is better. Beside curves, which start with variances of their own, it may be fitted worse than alone, so both are tried.
	least := linearGain - slack(c.data.Count(dataset.Valid))
	if best, err := c.mostHelpful(ctx, least, offered...); err != nil || best < 0 {
		return err
	}
	return c.compareBy(ctx, "linear function", linearGain, candidates)
}

// uses reports whether a term has one of some modes.
func uses(t spec.Term, modes []string) bool {
	return slices.ContainsFunc(t.Cores, func(core []string) bool {
		return slices.ContainsFunc(core, func(mode string) bool { return slices.Contains(modes, mode) })
	})
}
