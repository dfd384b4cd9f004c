package design

import (
	"math"

	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A season has as many harmonics as its period allows, so that single periods may stand
// out, but not more than these: of a long one the smooth part, with variances that fall
// with the square of the harmonic.
const (
	shortSeason    = 24
	shortHarmonics = 12
	longHarmonics  = 6
)

// Variances of the components of a series from which learning starts, relative to that
// of the target.
const (
	startLevel  = 0.1
	startWalk   = 0.01
	startAR     = 0.05
	startPhi    = 0.8
	startSlope  = 0.001
	startDamp   = 0.9
	startSeason = 0.02
	startDrift  = 0.1
)

// scaleSpread is the standard deviation of the logarithms of scales of series.
const scaleSpread = 1.5

// series appends a series term.
func (b *builder) series(term spec.Term) error {
	index, _, err := b.index(term.Cores[0], false)
	if err != nil {
		return err
	}
	mode := spec.Positions([]string{term.Series.Time}, b.data.Modes)[0]
	line, err := b.data.Line(mode)
	if err != nil {
		return fielderr.Errorf("terms", "term %s: %w", term, err)
	}
	prior, steps, err := seriesPrior(term, term.Series, line)
	if err != nil {
		return err
	}
	s := &seriesterm.Term{Label: term.String(), Modes: term.Cores[0], Index: index, Time: mode, Steps: steps, Process: &series.Process{Prior: prior}}
	for _, code := range b.data.Train[mode] {
		s.Default = max(s.Default, s.Steps[code])
	}
	b.field.Series = append(b.field.Series, s)
	return nil
}

// along gives a core of a term its prior along time.
func (b *builder) along(c *tt.Core, term spec.Term) error {
	line, err := b.data.Line(c.Index.Axes()[0].Mode)
	if err != nil {
		return fielderr.Errorf("terms", "term %s: %w", term, err)
	}
	prior, steps, err := seriesPrior(term, term.Along, line)
	if err == nil {
		c.SetAlong(prior, steps)
	}
	return err
}

// alongIndex returns the index of a core along time, with an entity for every id of its
// mode, and the number of those that have training rows, which come first.
func (b *builder) alongIndex(core []string) (*entity.Index, int, error) {
	mode := spec.Positions(core, b.data.Modes)[0]
	x, err := entity.NewAxisIndex(b.data.Threads, []entity.Axis{tt.StepAxis(mode, b.data.Sizes[mode])}, b.data.Train)
	if err != nil {
		return nil, 0, err
	}
	all := make([][]int32, len(b.data.Modes))
	for c := range int32(b.data.Sizes[mode]) {
		all[mode] = append(all[mode], c)
	}
	every, err := x.Extend(1, all)
	return every, x.Entities() - 1, err
}

// seriesPrior returns the prior from which a series term or a core along time starts, and
// the step of each code of its mode of time.
func seriesPrior(term spec.Term, r *spec.Series, line *timeline.Timeline) (p series.Prior, steps []int32, err error) {
	for _, step := range line.Steps() {
		if step > series.MaxStep {
			return p, nil, fielderr.Errorf("terms", "term %s: mode %s spans %d steps; a series has at most %d; use a coarser time", term, r.Time, step, series.MaxStep)
		}
		steps = append(steps, int32(step))
	}
	p = series.Prior{Level: startLevel}
	if r.Walk {
		p.Walk = startWalk
	}
	if r.AR {
		p.AR, p.Phi = startAR, startPhi
	}
	if r.Trend {
		p.Slope, p.SlopeWalk, p.Damping = startSlope, startSlope, startDamp
	}
	if r.Drift {
		p.DriftVar, p.DriftSpan = startDrift, float64(max(line.Last(), 1))
	}
	if r.Scale {
		p.ScaleSpread = scaleSpread
	}
	periods := r.Periods
	if r.Season {
		cycles := line.Cycles()
		if len(cycles) == 0 {
			return p, nil, fielderr.Errorf("terms", "term %s: the ids of mode %s do not say how long a season is; write its number of steps, as in season=12", term, r.Time)
		}
		for _, c := range cycles {
			if c.Periods <= float64(line.Last()+1) || len(cycles) == 1 {
				periods = append(periods, c.Periods)
			}
		}
	}
	n := line.Last() + 1
	for _, period := range periods {
		if period > float64(n) {
			return p, nil, fielderr.Errorf("terms", "term %s: a season of %g steps is longer than the table, which has %d periods of mode %s; use a shorter season", term, period, n, r.Time)
		}
		most := longHarmonics
		if period <= shortSeason {
			most = shortHarmonics
		}
		harmonics := max(1, min(most, int(math.Floor(period/2))))
		p.Seasons = append(p.Seasons, series.Season{Period: period, Harmonics: harmonics, Var: startSeason, Smooth: period > shortSeason})
	}
	return p, steps, nil
}
