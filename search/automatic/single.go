package automatic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// single reports whether the table is one series: its only mode is a time with regular
// periods, which do not have several rows each, as the numbers of groups do.
func (c *chooser) single() bool {
	return len(c.modes) == 1 && c.data.TimeMode() == 0 && c.data.Regular(0) && c.rows < 2*c.sizes[0]
}

// A cycle is a season of one series: a periodic component of the series term, or effects
// of parts of the date, which are much faster for short cycles and follow any shape.
type cycle struct {
	name   string
	period float64
	parts  []spec.Term
}

// cycles returns the seasons of one series.
func (c *chooser) cycles() []cycle {
	effect := func(parts ...string) spec.Term {
		var core []string
		for _, p := range parts {
			core = append(core, c.modes[0]+"."+p)
		}
		return spec.Term{Cores: [][]string{core}}
	}
	periods, parts := c.data.SeasonPeriods(0), c.data.CalendarParts(0)
	hour, weekday := slices.Contains(parts, "hour"), slices.Contains(parts, "weekday")
	var all []cycle
	ofDay := []spec.Term{effect("hour")}
	clock := slices.Contains(parts, "clock")
	if clock {
		ofDay = append(ofDay, effect("clock"))
	}
	switch {
	case hour && weekday:
		ofWeek := append([]spec.Term{effect("hour", "weekday"), effect("weekday")}, ofDay...)
		if clock {
			ofWeek = append(ofWeek, effect("clock", "weekday"))
		}
		all = append(all, cycle{name: "hour, weekday", parts: ofWeek}, cycle{name: "hour", parts: ofDay})
	case hour:
		all = append(all, cycle{name: "hour", parts: ofDay})
	case weekday:
		all = append(all, cycle{name: "weekday", parts: []spec.Term{effect("weekday")}})
	}
	for _, p := range periods {
		if !byParts(parts) || p >= longSeason && !(clock && weekday) {
			all = append(all, cycle{name: fmt.Sprintf("%.4g periods", p), period: p})
		}
	}
	return all
}

// chooseSingle chooses the model of one series, which has a level that moves, deviations
// that die out, seasons and a trend. Effects cannot choose the scale, because every
// period has one row; so the scale is compared with the seasons in the model. Those of
// the calendar start in it, while running numbers have at most one of the usual ones.
func (c *chooser) chooseSingle(ctx context.Context) error {
	all := c.cycles()
	numbered := c.data.Numbered(0)
	now := slices.DeleteFunc(slices.Clone(all), func(s cycle) bool { return numbered || s.name == "hour" && all[0].name != "hour" })
	if err := c.chooseSingleScale(ctx, c.withCycles(now, true), c.withCycles(now, false)); err != nil {
		return err
	}
	trend := func(ctx context.Context) error {
		damped := c.spec.Clone()
		damped.ChangeTerm(0, func(t *spec.Term) { t.Series.Trend = true })
		return c.compare(ctx, "trend", []candidate{{"no", c.spec}, {"damped", damped}})
	}
	seasons := func(ctx context.Context) error { return c.chooseCycles(ctx, now, all) }
	steps := []func(context.Context) error{trend, seasons}
	if numbered {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// withCycles returns the specification with a series and some seasons.
func (c *chooser) withCycles(cycles []cycle, trend bool) spec.Spec {
	term := c.seriesTerm()
	term.Series.Trend = trend
	terms := []spec.Term{term}
	for _, s := range cycles {
		terms = append(terms, s.parts...)
		if s.period > 0 {
			term.Series.Periods = append(term.Series.Periods, s.period)
		}
	}
	return c.withTerms(terms)
}

// chooseCycles offers each season alone, and none, instead of those that are in the model.
func (c *chooser) chooseCycles(ctx context.Context, now, all []cycle) error {
	if len(all) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	named := func(cycles []cycle) string {
		texts := []string{}
		for _, s := range cycles {
			texts = append(texts, s.name)
		}
		return strings.Join(texts, " and ")
	}
	candidates := []candidate{{named(now), c.spec}}
	if len(now) == 0 {
		candidates[0].value = "none"
	} else {
		candidates = append(candidates, candidate{"none", c.withCycles(nil, terms[0].Series.Trend)})
	}
	for _, s := range all {
		if len(now) != 1 || s.name != now[0].name {
			candidates = append(candidates, candidate{s.name, c.withCycles([]cycle{s}, terms[0].Series.Trend)})
		}
	}
	return c.compare(ctx, "seasons", candidates)
}

// leastEvidence is the gain of the evidence bound of all training rows for which the identity is given up, or an effect is added.
const leastEvidence = 1

// chooseSingleScale chooses between the identity and powers, for a target without negative values,
// unless the scale is given: by the evidence of a series with all seasons and a trend. Forecasts of a few
// periods say more about the trend of these periods, and without a trend every line looks like growth. Zeros, which
// powers near 0 set apart, have no density, so with them forecasts are compared. The model starts with the
// scale and the terms of start.
func (c *chooser) chooseSingleScale(ctx context.Context, whole, start spec.Spec) error {
	if start.Uncertainty.Likelihood == spec.Auto {
		start.Uncertainty.Likelihood = "gaussian"
		if c.data.ZeroOne() {
			start = start.WithLikelihood("bernoulli")
		}
	}
	scales, least := []string{start.Transform}, float32(-1)
	if y := c.data.Targets(); len(y) > 0 {
		least = slices.Min(y)
	}
	if start.Transform == spec.Auto || start.Transform == "power" {
		scales = []string{"identity"}
		if least >= 0 && start.Uncertainty.Likelihood == "gaussian" {
			scales = append(scales, "power:0.5", "power:0")
		}
	}
	if least == 0 {
		var candidates []candidate
		for _, scale := range scales {
			s := start.Clone()
			s.Transform = scale
			candidates = append(candidates, candidate{scale, s})
		}
		return c.compare(ctx, "scale", candidates)
	}
	whole.Uncertainty.Likelihood = start.Uncertainty.Likelihood
	var candidates []candidate
	for _, scale := range scales {
		s := whole.Clone()
		s.Transform = scale
		candidates = append(candidates, candidate{scale, s})
	}
	best, err := c.mostEvident(ctx, "scale", candidates)
	if err != nil {
		return err
	}
	c.spec = start
	c.spec.Transform = scales[best]
	return nil
}

// mostEvident returns the candidate with the most evidence, where the first must be exceeded by leastEvidence, and
// notes the decision.
func (c *chooser) mostEvident(ctx context.Context, subject string, candidates []candidate) (best int, err error) {
	decision := model.Decision{Subject: subject}
	highest := math.Inf(-1)
	for i, one := range candidates {
		decision.Options = append(decision.Options, model.Candidate{Value: one.value})
		if len(candidates) == 1 || c.late() {
			break
		}
		evidence, err := c.evidence(ctx, one.spec)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil && !c.skips(err):
			return 0, err
		case err == nil:
			decision.Options[i].Evidence = fitrecord.Finite(evidence)
		}
		switch {
		case decision.Options[i].Evidence == nil:
		case i == 0:
			highest = evidence + leastEvidence
		case evidence > highest:
			best, highest = i, evidence
		}
	}
	decision.Options[best].Taken = true
	c.decisions = append(c.decisions, decision)
	return best, nil
}

// evidence returns the evidence bound of the training rows, as a density of the target in its own units.
func (c *chooser) evidence(ctx context.Context, s spec.Spec) (float64, error) {
	s, _ = compared(s, nil)
	m, r, err := c.fitModel(ctx, s, c.data, c.threads())
	if err != nil {
		return 0, err
	}
	bound, ok := LargestBound(r)
	if !ok {
		return 0, errors.New("the fit has no elbo")
	}
	scale, sum := m.Scale(), 0.0
	y := c.data.Targets()
	for _, v := range y {
		sum += scale.Transform.LogDerivative(float64(v))
	}
	return sum + float64(len(y))*(bound-math.Log(scale.Spread)), nil
}

// LargestBound returns the largest evidence bound of a fit, a mean over the training rows; ok is false if the fit has none.
func LargestBound(r *train.Report) (bound float64, ok bool) {
	if r.Spec.Fit.Solver != "cavi" || len(r.History) == 0 {
		return 0, false
	}
	bound = math.Inf(-1)
	for _, p := range r.History {
		bound = math.Max(bound, p.Bound)
	}
	return bound, true
}
