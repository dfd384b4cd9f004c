package automatic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// leastSharing is the number of series from which one that all share is offered.
const leastSharing = 3

// chooseSeasons offers parts of the date: an effect of each, an interaction of low rank
// with every mode, or effects of each id; and a season of every series.
func (c *chooser) chooseSeasons(ctx context.Context) error {
	time, entities := c.data.TimeMode(), c.entities()
	parts := c.data.CalendarParts(time)
	if len(parts) == 0 || len(entities) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	var low, effects, joints []spec.Term
	own := c.partsOfSeries(parts)
	for _, part := range parts {
		name := c.modes[time] + "." + part
		main := spec.Term{Cores: [][]string{{name}}}
		for _, m := range entities {
			if 2*c.sizes[m] >= c.rows {
				continue
			}
			low = append(low, spec.Term{Cores: [][]string{{c.modes[m]}, {name}}, Ranks: []int{calendarRank}})
			effects = append(effects, spec.Term{Cores: [][]string{{c.modes[m], name}}})
		}
		low, effects = append(low, main), append(effects, main)
	}
	if byParts(parts) && len(parts) > 1 {
		// The hours of a weekday differ from those of a Sunday. Behind the other parts the first sweep leaves them nothing,
		// and they shrink to zero.
		for _, ofDay := range []string{"hour", "clock"} {
			n := 7 * c.data.CombinationsWith(nil, time, ofDay)
			if !slices.Contains(parts, ofDay) || !slices.Contains(parts, "weekday") || c.rows < 2*n {
				continue
			}
			joint := []string{c.modes[time] + "." + ofDay, c.modes[time] + ".weekday"}
			joints = append(joints, spec.Term{Cores: [][]string{joint}})
			if 2*n*c.data.Combinations(entities...) <= c.rows {
				own = append(own, spec.Term{Cores: [][]string{append(c.names(entities...), joint...)}})
			}
		}
		low = slices.Concat(joints, low)
	}
	defer func(all []*fitdata.Data) { c.folds = all }(c.folds)
	c.folds = c.foldsOfYears()
	label := strings.Join(parts, ", ")
	candidates := []candidate{{label + ", interactions of rank 2", c.withTerms(slices.Concat(terms, low))}}
	if !c.quick() {
		smooth := c.smoothYears(terms, low)
		if c.years() < yearsOfEffects && c.data.Year(time) >= longYear {
			candidates = append(smooth, candidates...)
		} else {
			candidates = append(candidates, smooth...)
		}
		if short := withoutYears(low, c.modes[time]); len(short) > 0 && len(short) < len(low) && c.years() < yearsOfEffects {
			// A year or two say little about the weeks of the next one, but much about its weekdays.
			candidates = append(candidates, candidate{"parts of the week, interactions of rank 2", c.withTerms(slices.Concat(terms, short))})
		}
		candidates = append(candidates, candidate{label + ", effects of each id", c.withTerms(slices.Concat(terms, joints, effects))})
		if len(own) > 0 {
			candidates = append(candidates, candidate{label + ", effects of each series", c.withTerms(slices.Concat(terms, effects, joints, own))})
		}
		candidates = append(candidates, candidate{"none", c.spec})
	}
	if len(c.folds) > 2 && !c.quick() && c.showsSeasons(parts) {
		// Origins that show all hours, weekdays or months make them prove themselves.
		slices.Reverse(candidates)
		return c.compare(ctx, "parts of the date", candidates)
	}
	if err := c.compare(ctx, "parts of the date", candidates); err != nil {
		return err
	}
	// A gain by chance or of a single season does not suffice to leave them out.
	d := &c.decisions[len(c.decisions)-1]
	last := len(d.Options) - 1
	if !d.Options[last].Taken || d.Options[last].Value != "none" {
		return nil
	}
	best, lowest := -1, 0.0
	for i, o := range d.Options[:last] {
		if o.CRPS != nil && (best < 0 || *o.CRPS < lowest) {
			best, lowest = i, *o.CRPS
		}
	}
	if best < 0 {
		return nil
	}
	if *d.Options[last].CRPS > calendarFactor*lowest {
		d.Options[last].Taken, d.Options[best].Taken = false, true
		c.spec = candidates[best].spec
		return nil
	}
	return c.confirmNoParts(ctx, candidates[best], candidates[last])
}

// Smooth years are offered if the training periods make a year. With fewer than yearsOfEffects they
// come first, because an effect of each week is then little more than the noise of one or two
// weeks. longYear is the number of periods of a year from which its periods are weeks or days.
const (
	yearsOfEffects = 3
	longYear       = 24
)

// smoothYears returns candidates with a few harmonics of the year instead of effects of the week
// and the month: in the series that all series share, and also in patterns of which every id has
// its own amount. They are learned together with a level that moves, which effects take for a
// season. Shorter parts of the date keep their terms, of low.
func (c *chooser) smoothYears(terms, low []spec.Term) []candidate {
	time, entities := c.data.TimeMode(), c.entities()
	year := c.data.Year(time)
	if year == 0 || c.years() < 1 || c.data.Combinations(entities...) < leastSharing || c.rows > c.effort.rows && year < longYear {
		return nil
	}
	shared := slices.Clone(terms)
	at := slices.IndexFunc(shared, func(t spec.Term) bool { return t.IsSeries() && len(t.Cores[0]) == 0 })
	if at < 0 {
		at, shared = len(shared), append(shared, c.seriesTerm())
	}
	season := *shared[at].Series
	season.Periods = []float64{year}
	shared[at].Series = &season
	shared = append(shared, withoutYears(low, c.modes[time])...)
	own := slices.Clone(shared)
	for _, m := range entities {
		own = append(own, spec.Term{Cores: [][]string{c.names(m), c.names(time)}, Ranks: []int{calendarRank}, Along: &spec.Series{Time: c.modes[time], AR: true, Periods: []float64{year}}})
	}
	return []candidate{{"smooth year that all share", c.withTerms(shared)}, {"smooth years of each id", c.withTerms(own)}}
}

// withoutYears returns the terms without a part of the year of a mode of time.
func withoutYears(terms []spec.Term, time string) []spec.Term {
	return slices.DeleteFunc(slices.Clone(terms), func(t spec.Term) bool {
		parts := slices.Concat(t.Cores...)
		return slices.Contains(parts, time+".week") || slices.Contains(parts, time+".month")
	})
}

// foldsOfYears returns the origins with a year of training periods, because earlier ones say
// nothing about the next year; all if the first has none.
func (c *chooser) foldsOfYears() []*fitdata.Data {
	time := c.data.TimeMode()
	year := c.data.Year(time)
	n := len(c.folds)
	for n > 1 && float64(c.folds[0].Combinations(time)) >= year && float64(c.folds[n-1].Combinations(time)) < year {
		n--
	}
	return c.folds[:n]
}

// years returns the number of years of training periods; 0 if the calendar has none.
func (c *chooser) years() float64 {
	time := c.data.TimeMode()
	if year := c.data.Year(time); year > 0 {
		return float64(c.data.Combinations(time)) / year
	}
	return 0
}

// Before parts of the date are left out because of a comparison on a sample, they are
// compared again on up to fullerRows training rows with fullerSweeps sweeps. Seasons are
// shared by all ids and learned from all rows, so a small sample is unfair to them: of the
// Iowa sales, a sample of a twentieth finds them 3 % worse than none, and a quarter of the
// stores with all their rows as good.
const (
	fullerRows   = 1_000_000
	fullerSweeps = 8
)

// confirmNoParts takes the candidate with parts of the date after all, unless the one
// without them is better by the calendarFactor on more rows too.
func (c *chooser) confirmNoParts(ctx context.Context, with, without candidate) error {
	if c.rows < 2*c.effort.rows || c.late() {
		return nil
	}
	return c.compareOnMore(ctx, "parts of the date, on more rows", 1-calendarFactor, with, without)
}

// compareOnMore takes the second candidate if its CRPS on more rows is lower by a share,
// otherwise the first.
func (c *chooser) compareOnMore(ctx context.Context, subject string, least float64, first, second candidate) error {
	usual, before := c.effort, c.spec
	defer func() { c.effort = usual }()
	c.effort.rows, c.effort.sweeps = min(c.rows, fullerRows), fullerSweeps
	decision := model.Decision{Subject: subject}
	var scores []float64
	for i, one := range []candidate{first, second} {
		if c.opt.Progress != nil {
			c.opt.Progress(train.Event{Stage: "choose", Note: fmt.Sprintf("%s: %s, %d of 2", decision.Subject, one.value, i+1)})
		}
		s := one.spec.Clone()
		if s.Uncertainty.Noise == spec.Auto {
			s.Uncertainty.Noise = "constant"
		}
		crps, err := c.measure(ctx, s)
		if err != nil {
			if c.skips(err) {
				c.spec = before
				return nil
			}
			return err
		}
		scores = append(scores, crps)
		decision.Options = append(decision.Options, model.Candidate{Value: one.value, CRPS: fitrecord.Finite(crps)})
	}
	taken := 0
	c.spec = first.spec
	if scores[1] <= (1-least)*scores[0] {
		taken = 1
		c.spec = second.spec
	}
	decision.Options[taken].Taken = true
	c.decisions = append(c.decisions, decision)
	return nil
}

// showsSeasons reports whether the validation periods of all origins together go through
// the parts of the date.
func (c *chooser) showsSeasons(parts []string) bool {
	if !slices.Contains(parts, "month") && !slices.Contains(parts, "week") {
		return true
	}
	periods := c.data.SeasonPeriods(c.data.TimeMode())
	return len(periods) > 0 && float64(len(c.folds)*c.data.ValidPeriods()) >= slices.Max(periods)
}

// longSeason is the number of periods from which a season is longer than a week of hours.
const longSeason = 200

// byParts reports whether the parts of a date say what the hours or weekdays of a season
// are.
func byParts(parts []string) bool {
	return slices.Contains(parts, "hour") || slices.Contains(parts, "weekday")
}
