package automatic

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseCurves offers, for rows between known periods, series along time in place of the
// curves of low rank or the levels of the combinations of ids: a series follows its
// neighbours in time, while a curve is the same mixture of a few shapes in all periods.
func (c *chooser) chooseCurves(ctx context.Context) error {
	time, entities := c.data.TimeMode(), c.entities()
	if time < 0 || c.quick() || len(entities) == 0 || len(entities)+1 != len(c.modes) || !c.data.Regular(time) {
		return nil
	}
	if rowsPerSeries*float64(c.data.Combinations(entities...)) > float64(c.rows) {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	combination := c.names(entities...)
	rest := slices.DeleteFunc(slices.Clone(terms), func(t spec.Term) bool {
		if !slices.Equal(t.Cores[0], combination) {
			return false
		}
		return len(t.Cores) == 1 || len(combination) > 1 && len(t.Cores) == 2 && slices.Equal(t.Cores[1], c.names(time))
	})
	present := "none"
	if i := slices.IndexFunc(terms, func(t spec.Term) bool { return slices.Equal(t.Cores[0], combination) }); i >= 0 {
		present = terms[i].String()
	}
	series := c.seriesTerm(entities...)
	candidates := []candidate{{present, c.spec}, {series.String(), c.withTerms(append(slices.Clone(rest), series))}}
	// Series of random walks are hard to learn beside trains, which fit the same rows first. A sample has as many rows of a pair
	// of ids as the table but fewer of an id, so that trains learn less from it than they will from the table.
	effects := slices.DeleteFunc(slices.Clone(terms), func(t spec.Term) bool {
		return len(t.Cores) > 1 || len(combination) > 1 && slices.Equal(t.Cores[0], combination)
	})
	if c.rows <= c.effort.rows && slices.ContainsFunc(rest, func(t spec.Term) bool { return len(t.Cores) > 1 }) {
		candidates = append(candidates, candidate{series.String() + " without trains", c.withTerms(append(effects, series))})
	}
	return c.compare(ctx, "series along time", candidates)
}
