package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// single reports whether the table is one series: its only mode is a time with regular
// periods.
func (c *chooser) single() bool {
	return len(c.modes) == 1 && c.data.TimeMode() == 0 && c.data.Regular(0)
}

// chooseSingle chooses the model of one series, which has a level that moves, deviations
// that die out, seasons and a trend. Effects cannot choose the scale, because every
// period has one row; so the scale is compared with all seasons in the model.
func (c *chooser) chooseSingle(ctx context.Context) error {
	periods := c.data.SeasonPeriods(0)
	term := c.seriesTerm()
	term.Series.Periods = periods[:min(len(periods), 2)]
	if err := c.compareScales(ctx, c.withTerms([]spec.Term{term})); err != nil {
		return err
	}
	trend := c.spec.Clone()
	changeTerm(&trend, 0, func(t *spec.Term) { t.Series.Trend = true })
	if err := c.compare(ctx, "trend", []candidate{{"no", c.spec}, {"damped", trend}}); err != nil {
		return err
	}
	if len(periods) == 0 || c.quick() {
		return nil
	}
	candidates := []candidate{{named(term.Series.Periods), c.spec}}
	offer := func(value string, periods ...float64) {
		s := c.spec.Clone()
		changeTerm(&s, 0, func(t *spec.Term) { t.Series.Periods = periods })
		candidates = append(candidates, candidate{value, s})
	}
	offer("none")
	for _, p := range periods {
		if len(periods) > 1 {
			offer(named([]float64{p}), p)
		}
	}
	return c.compare(ctx, "seasons", candidates)
}

func named(periods []float64) string {
	texts := make([]string, len(periods))
	for i, p := range periods {
		texts[i] = fmt.Sprintf("%.4g", p)
	}
	return strings.Join(texts, " and ") + " periods"
}

// compareScales compares the identity with powers, for a target without negative values,
// and Student noise, unless they are given.
func (c *chooser) compareScales(ctx context.Context, start spec.Spec) error {
	if start.Uncertainty.Likelihood == spec.Auto {
		start.Uncertainty.Likelihood = "gaussian"
		if c.data.ZeroOne() {
			start.Uncertainty.Likelihood = "bernoulli"
		}
	}
	if start.Transform != spec.Auto && start.Transform != "power" {
		return c.compare(ctx, "scale", []candidate{{start.Transform, start}})
	}
	start.Transform = "identity"
	candidates := []candidate{{"identity", start}}
	if y := c.data.Targets(); len(y) > 0 && slices.Min(y) >= 0 && start.Uncertainty.Likelihood == "gaussian" {
		for _, scale := range []string{"power:0.5", "power:0"} {
			s := start.Clone()
			s.Transform = scale
			candidates = append(candidates, candidate{scale, s})
		}
	}
	return c.compare(ctx, "scale", candidates)
}
