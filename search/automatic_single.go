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
// period has one row; so the scale is compared with the seasons in the model. Those of
// the calendar start in it, while running numbers have at most one of the usual ones.
func (c *chooser) chooseSingle(ctx context.Context) error {
	periods := c.data.SeasonPeriods(0)
	term := c.seriesTerm()
	if !c.data.Numbered(0) {
		term.Series.Periods = periods[:min(len(periods), 2)]
	}
	if err := c.compareScales(ctx, c.withTerms([]spec.Term{term})); err != nil {
		return err
	}
	steps := []func(context.Context) error{c.chooseTrend, func(ctx context.Context) error { return c.chooseCycles(ctx, term.Series.Periods, periods) }}
	if c.data.Numbered(0) {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// chooseTrend offers a damped trend.
func (c *chooser) chooseTrend(ctx context.Context) error {
	trend := c.spec.Clone()
	changeTerm(&trend, 0, func(t *spec.Term) { t.Series.Trend = true })
	return c.compare(ctx, "trend", []candidate{{"no", c.spec}, {"damped", trend}})
}

// chooseCycles offers each season alone, and none, instead of those that are in the model.
func (c *chooser) chooseCycles(ctx context.Context, now, periods []float64) error {
	if len(periods) == 0 {
		return nil
	}
	candidates := []candidate{{named(now), c.spec}}
	offer := func(periods ...float64) {
		if slices.Equal(periods, now) {
			return
		}
		s := c.spec.Clone()
		changeTerm(&s, 0, func(t *spec.Term) { t.Series.Periods = periods })
		candidates = append(candidates, candidate{named(periods), s})
	}
	offer()
	for _, p := range periods {
		offer(p)
	}
	return c.compare(ctx, "seasons", candidates)
}

func named(periods []float64) string {
	if len(periods) == 0 {
		return "none"
	}
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
