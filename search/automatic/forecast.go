package automatic

import (
	"context"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// Rules of the terms that are offered when the validation rows come after the training
// rows. A core or an effect over the time itself has no future, so it is not offered;
// series and parts of the date take its place.
const (
	rowsPerSeriesTerm = 2.0 // least number of rows per series
	calendarRank      = 2   // of an interaction of a mode with a part of the date
	// A validation period shows only some seasons. Parts of the date are therefore left
	// out only if the model without them is better by this factor.
	calendarFactor = 0.98
	// One validation period is little to judge a season or a trend by, so it must be better
	// by this share.
	seasonMargin = 0.02
)

// future reports whether the validation rows come after the training rows.
func (c *chooser) future() bool {
	return c.data.LaterMode() >= 0
}

// entities returns the modes that are neither the time nor a part of its date. The hours of a
// column beside a time of days are entities: a period has rows of several.
func (c *chooser) entities() []int {
	time := c.data.TimeMode()
	var modes []int
	for m := range c.modes {
		if m != time && (!c.data.IsCalendar(m) || c.data.IsColumn(m) && time >= 0 && c.data.Combinations(time, m) > c.data.Combinations(time)) {
			modes = append(modes, m)
		}
	}
	return modes
}

// seriesTerm returns a series for each combination of ids of some modes.
func (c *chooser) seriesTerm(modes ...int) spec.Term {
	return spec.Term{Cores: [][]string{c.names(modes...)}, Series: &spec.Series{Time: c.modes[c.data.TimeMode()], Walk: true, AR: true}}
}

// chooseSeries chooses the terms of a model that forecasts: a train over the modes other
// than time, or none; a series per combination of them, and per id of each; effects.
func (c *chooser) chooseSeries(ctx context.Context) error {
	time, entities := c.data.TimeMode(), c.entities()
	if len(entities) == 0 || !c.data.Regular(time) {
		return c.chooseTrains(ctx)
	}
	var all []spec.Term
	if n := c.data.Combinations(entities...); rowsPerSeriesTerm*float64(n) <= float64(c.rows) {
		all = []spec.Term{c.seriesTerm(entities...)}
	}
	var single []spec.Term
	if len(entities) > 1 {
		for _, m := range entities {
			if rowsPerSeriesTerm*float64(c.sizes[m]) <= float64(c.rows) {
				single = append(single, c.seriesTerm(m))
			}
		}
	}
	// The level of a series is an effect of its ids, learned together with what moves it. An effect
	// beside it would take the mean of each series first, to which forecasts then return.
	effects := slices.DeleteFunc(c.effects(nil), func(t spec.Term) bool {
		return slices.Contains(t.Cores[0], c.modes[time]) || len(all) > 0 && slices.Equal(t.Cores[0], all[0].Cores[0])
	})
	informed, err := c.informedModes()
	if err != nil {
		return err
	}
	if len(effects) == 0 && (len(all) == 0 || len(informed) > 0 || c.hasSites()) {
		// Side information needs an effect, and series of counts or of yes and no are not learned
		// together with the noise.
		effects = []spec.Term{{Cores: [][]string{c.names(entities[0])}}}
	}
	var trains []spec.Term
	if len(entities) > 1 {
		trains = []spec.Term{c.train(entities)}
	}
	if c.rows >= 2*c.effort.rows && !c.quick() {
		// A sample of the ids of one mode has less to share between ids than the table, and few
		// rows of each id of the other modes. All terms are taken: the posterior shrinks what the
		// data does not support.
		return c.compare(ctx, "series", []candidate{{"of each combination and id", c.withTerms(slices.Concat(trains, all, single, effects))}})
	}
	candidates := []candidate{{"series of each combination", c.withTerms(slices.Concat(trains, all, effects))}}
	if len(single) > 0 {
		candidates = append(candidates, candidate{"and of each id", c.withTerms(slices.Concat(trains, all, single, effects))})
	}
	if c.data.Combinations(entities...) >= leastSharing {
		// What all series have in common shows in all of them, and in their totals.
		shared := []spec.Term{c.seriesTerm()}
		candidates = append(candidates, candidate{"and one that all share", c.withTerms(slices.Concat(trains, all, shared, effects))})
		if len(single) > 0 {
			candidates = append(candidates, candidate{"and of each id and a shared one", c.withTerms(slices.Concat(trains, all, single, shared, effects))})
		}
	}
	if len(trains) > 0 {
		candidates = append(candidates, candidate{"without " + trains[0].String(), c.withTerms(slices.Concat(all, single, effects))})
	}
	if c.quick() {
		candidates = candidates[:1]
	}
	return c.compare(ctx, "series", candidates)
}

// choosePeriod offers a season, a trend and a scale of every series; the season is one of the
// periods that the calendar has or, for running numbers, of usual ones, if the comparison sees all
// rows.
func (c *chooser) choosePeriod(ctx context.Context) error {
	if c.quick() || c.rows > c.effort.rows {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(terms, spec.Term.IsSeries)
	if at < 0 {
		return nil
	}
	candidates := []candidate{{"none", c.spec}}
	parts := c.data.CalendarParts(c.data.TimeMode())
	for _, period := range c.data.SeasonPeriods(c.data.TimeMode()) {
		if byParts(parts) && period < longSeason {
			continue // effects of these parts are faster, and follow any shape
		}
		s := c.spec.Clone()
		s.ChangeTerm(at, func(t *spec.Term) { t.Series.Periods = []float64{period} })
		candidates = append(candidates, candidate{fmt.Sprintf("%.4g periods", period), s})
	}
	if len(candidates) > 1 {
		if err := c.compareBy(ctx, "season of each series", seasonMargin, candidates); err != nil {
			return err
		}
	}
	linear, damped := c.spec.Clone(), c.spec.Clone()
	linear.ChangeTerm(at, func(t *spec.Term) { t.Series.Drift = true })
	damped.ChangeTerm(at, func(t *spec.Term) { t.Series.Trend = true })
	candidates = []candidate{{"no", c.spec}, {"damped", damped}, {"linear", linear}}
	if len(terms[at].Cores[0]) > 0 {
		// Together with the trend, because that of one series among others that are not
		// like it shows only with a scale.
		for _, shared := range slices.Clone(candidates) {
			own := shared.spec.Clone()
			own.ChangeTerm(at, func(t *spec.Term) { t.Series.Scale = true })
			candidates = append(candidates, candidate{shared.value + " + own scale", own})
		}
		if single := candidates[:4]; c.hasSites() && !c.showsGain(ctx, single) {
			candidates = single // trends with scales take longest
		}
	}
	return c.compareBy(ctx, "trend of each series", seasonMargin, candidates)
}

// hasSites reports whether the likelihood replaces observations by sites, whose precisions differ: then
// series take much longer to learn, above all with a trend.
func (c *chooser) hasSites() bool {
	return !slices.Contains([]string{"gaussian", "student"}, c.spec.Uncertainty.Likelihood)
}

// showsGain reports whether one of the candidates is better than the first by a part of the margin
// of trends.
func (c *chooser) showsGain(ctx context.Context, candidates []candidate) bool {
	const part = 0.25
	scores := c.scoresOf(ctx, "trend of each series", candidates, seasonMargin)
	for _, one := range scores {
		if one.err == nil && scores[0].err == nil && one.crps < scores[0].crps*(1-part*seasonMargin) {
			return true
		}
	}
	return len(scores) < len(candidates)
}
