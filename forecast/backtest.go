package forecast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// BacktestOptions specify a backtest. Errors about a field carry the paths windows, horizon,
// step and by.
type BacktestOptions struct {
	Windows int // number of origins; 0 for 4
	Horizon int // periods to forecast from each; 0 for 3
	Step    int // periods from one origin to the next; 0 for 1

	// Keep keeps what the specification leaves open as the first origin chose it. The
	// weights, the noise and the calibration are learned again at every origin.
	Keep bool

	// By are groupings whose totals by period are measured too: "total", or modes and columns of
	// side tables, as in "store" or "store,item.vendor".
	By []string

	// Model makes a model that is trained on all rows, with the choices of the last
	// origin and intervals calibrated by horizon on the forecasts of all origins.
	Model bool

	Train    train.Options     // threads, side tables and standard input
	Progress func(text string) // may be nil
}

// A Result is what a backtest measured.
type Result struct {
	Unit    string   `json:"unit"` // of a period, "" if the ids do not say
	Horizon int      `json:"horizon"`
	Step    int      `json:"step"`
	Origins []Origin `json:"origins"`
	Scores  []Score  `json:"scores"`
	Totals  []Score  `json:"totals,omitempty"` // of the sums over the groups of BacktestOptions.By
	Mix     string   `json:"mix"`              // what the last origin mixed, as in "0.6 mean + 0.4 last value"

	Warnings []string `json:"warnings,omitempty"`
	// Calibrated tells whether the intervals of the model are calibrated on the forecasts.
	Calibrated bool `json:"calibrated,omitempty"`
}

// An Origin is the last period that a model of a backtest knew.
type Origin struct {
	ID      string  `json:"id"`
	Rows    int     `json:"rows"` // of the training, up to the origin
	Tested  int     `json:"tested"`
	Seconds float64 `json:"seconds"`
	Terms   string  `json:"terms"`
}

// Backtest measures forecasts on rolling origins. For each origin it trains a model on the
// rows up to it, as a fit for forecasts does: first without the last Horizon periods, its test set, and
// the Horizon periods before them, on which the fit ends in time and its intervals are calibrated by horizon, then on all of them. If
// fewer than two periods are left to learn from, there is no test set. The rows of the following
// Horizon periods are predicted and compared with their values, beside formulas that know
// the same rows: the mean of the series, its last value, its drift, its value one season
// before, and the mix of them that was best on the last Horizon periods before the origin.
//
// The table is read from the source, or from the files of the specification if the source
// is the zero Source. The model is nil unless it was asked for.
func Backtest(ctx context.Context, s spec.Spec, source tableio.Source, opt BacktestOptions) (*Result, *model.Model, error) {
	b := &backtest{opt: opt}
	if err := b.read(ctx, s, source); err != nil {
		return nil, nil, err
	}
	for k, origin := range b.origins {
		if err := b.window(ctx, k, origin); err != nil {
			return nil, nil, fmt.Errorf("origin %s: %w", b.id(origin), err)
		}
	}
	b.result.Scores = b.scores(-1)
	for g := range b.groupings {
		b.result.Totals = append(b.result.Totals, b.scores(g)...)
	}
	if !opt.Model {
		return &b.result, nil, nil
	}
	m, err := b.final(ctx)
	return &b.result, m, err
}

// backtest is the state of a backtest.
type backtest struct {
	opt     BacktestOptions
	spec    spec.Spec
	data    *fitdata.Data
	engine  *cpu.Backend
	line    *timeline.Timeline
	time    int     // mode of time
	keys    []int   // modes that distinguish series
	steps   []int64 // by code of the mode of time
	last    int64
	origins []int64
	methods []string // in the order of their first score

	groupings []grouping // of BacktestOptions.By
	sums      map[place]*metrics.ForecastSums
	result    Result

	score, location []float64 // of all forecasts, for the calibration
	horizon         []int32
	block           []int // number of the origin and series of each forecast
	blocks          int
}

// id names an origin: by its period, or by the number of periods to the end of each series.
func (b *backtest) id(step int64) string {
	if own, _ := b.data.OwnEnds(); own {
		return fmt.Sprintf("end-%d", b.last-step)
	}
	id, err := b.line.ID(step)
	if err != nil {
		return fmt.Sprint("period ", step)
	}
	return id
}

func (b *backtest) say(format string, args ...any) {
	if b.opt.Progress != nil {
		b.opt.Progress(fmt.Sprintf(format, args...))
	}
}

// read reads the table and finds the origins.
func (b *backtest) read(ctx context.Context, s spec.Spec, source tableio.Source) error {
	if _, err := search.Complete(&s, source, true); err != nil {
		return err
	}
	s.Fill()
	s.Split, s.Search, s.Fit.Refit = "random:100/0/0", nil, "all" // origins replace the split
	if err := s.Validate(); err != nil {
		return err
	}
	o := &b.opt
	o.Windows, o.Horizon, o.Step = orDefault(o.Windows, 4), orDefault(o.Horizon, 3), orDefault(o.Step, 1)
	for path, v := range map[string]int{"windows": o.Windows, "horizon": o.Horizon, "step": o.Step} {
		if v < 1 || v > 1_000_000 {
			return fielderr.Errorf(path, "%s is %d, expected a number from 1 on", path, v)
		}
	}
	path, err := cpu.ChoosePath()
	if err != nil {
		return err
	}
	b.spec, b.engine, b.sums = s, cpu.New(path, o.Train.Threads), map[place]*metrics.ForecastSums{}
	if b.data, err = train.Read(ctx, s, source, o.Train); err != nil {
		return err
	}
	modes := b.data.Modes()
	if b.time = timeline.ModeAlong(modes, b.data.IDs); b.time < 0 {
		return fielderr.Errorf("data.modes", "no mode is a time whose periods can be ordered; make one from a year and a period within the year (time=year+month), from yearmonth(column) or date(column)")
	}
	if b.line, err = timeline.New(modes[b.time], b.data.IDs(b.time)); err != nil {
		return fielderr.Errorf("data.modes", "%w", err)
	}
	if err := b.line.OnePeriodEach(); err != nil {
		return fielderr.Errorf("data.modes", "%w", err)
	}
	if err := b.data.FindEnds(s.Data, b.time); err != nil {
		return err
	}
	b.keys, b.steps, b.last = panel.KeyModes(modes, b.time), b.line.Steps(), b.line.Last()
	b.result = Result{Unit: b.line.Period(), Horizon: o.Horizon, Step: o.Step}
	first := b.last - int64(o.Horizon) - int64(o.Windows-1)*int64(o.Step)
	// Before the first origin there are the periods of its validation set and two to learn from.
	if first < int64(o.Horizon)+1 {
		return fielderr.Errorf("windows", "the table has %s of mode %s, and %s of %s need %d; use fewer windows, a shorter horizon or a smaller step", plural.Count(int(b.last)+1, "period"), modes[b.time].Name,
			plural.Count(o.Windows, "window"), plural.Count(o.Horizon, "period"), int64(o.Horizon)+2+b.last-first)
	}
	if _, why := b.data.OwnEnds(); why != "" {
		b.result.Warnings = append(b.result.Warnings, why)
	}
	if b.groupings, err = b.findGroupings(ctx); err != nil {
		return err
	}
	for k := range o.Windows {
		b.origins = append(b.origins, first+int64(k)*int64(o.Step))
	}
	return nil
}

func orDefault(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// at returns the data of a fit at an origin: those of a fit that forecasts Horizon periods from the rows up to it, which has a test set of
// its own. With too few periods for that, it has none.
func (b *backtest) at(origin int64) (*fitdata.Data, error) {
	horizon := int64(b.opt.Horizon)
	test := horizon
	if origin+1-2*horizon < leastPeriods {
		test = 0
	}
	return b.data.At(b.time, b.steps, origin, horizon, test)
}

// leastPeriods is the number of periods to learn from before a test and a validation set.
const leastPeriods = 2

// window trains at an origin and measures the periods after it.
func (b *backtest) window(ctx context.Context, k int, origin int64) error {
	began, horizon := time.Now(), int64(b.opt.Horizon)
	data, err := b.at(origin)
	if err != nil {
		return err
	}
	all, err := data.Known()
	if err != nil {
		return err
	}
	rows, err := all.Between(b.time, b.steps, origin+1, origin+horizon)
	if err != nil {
		return err
	}
	known, err := b.data.Between(b.time, b.steps, 0, origin)
	if err != nil {
		return err
	}
	b.say("origin %d of %d: training on %s up to %s", k+1, len(b.origins), plural.Count(len(known.Y), "row"), b.id(origin))
	if len(rows.Y) == 0 || len(known.Y) == 0 {
		return fielderr.Errorf("windows", "there are %d rows up to the origin and %d after it", len(known.Y), len(rows.Y))
	}
	divided, err := b.divide(origin, known, rows)
	if err != nil {
		return err
	}
	m, report, err := search.FitData(ctx, b.spec, data, b.opt.Train)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // the model of an interrupted fit is not what is to be measured
	}
	if b.opt.Keep || k == len(b.origins)-1 && b.opt.Model {
		b.spec = m.Spec()
		b.spec.Fit.Refit = "all"
	}
	if report.Refit == nil {
		b.result.Warnings = append(b.result.Warnings, fmt.Sprintf("origin %s: the model was not trained on the last %s before it, because the training on all rows was given up", b.id(origin), plural.Count(b.opt.Horizon, "period")))
	}
	ahead := make([]int, len(rows.Y))
	for i, step := range rows.Step {
		ahead[i] = int(int64(step) - origin)
	}
	changes := b.changes(known.Rows, rows.Rows)
	if err := b.measureFormulas(k, origin, known, rows, ahead, changes, divided); err != nil {
		return err
	}
	if err := b.measureTotals(ctx, k, m, rows.Rows, divided); err != nil {
		return err
	}
	if err := b.measureModel(k, m, rows.Rows, ahead, changes); err != nil {
		return err
	}
	b.result.Origins = append(b.result.Origins, Origin{ID: b.id(origin), Rows: len(known.Y), Tested: len(rows.Y), Seconds: time.Since(began).Seconds(), Terms: strings.Join(m.Spec().Terms, " + ")})
	return nil
}

// final returns a model that is trained on all rows and calibrated on the forecasts of all
// origins, unless they are too few.
func (b *backtest) final(ctx context.Context) (*model.Model, error) {
	b.say("training on all rows")
	data, err := b.at(b.last)
	if err != nil {
		return nil, err
	}
	m, _, err := search.FitData(ctx, b.spec, data, b.opt.Train)
	if err != nil {
		return nil, err
	}
	few := len(b.score) < conformal.RowsNeeded(metrics.IntervalLevels[0])
	if own := m.Uncertainty().Conformal; few && own != nil && own.Rows > len(b.score) {
		b.result.Warnings = append(b.result.Warnings, fmt.Sprintf("the intervals of the model are calibrated by its own fit, on %s, because the backtest has only %s; use more windows to calibrate them on the backtest", plural.Count(own.Rows, "row"), plural.Count(len(b.score), "forecast")))
		return m, nil
	}
	correction, err := b.correction()
	if errors.Is(err, conformal.ErrTooFewRows) {
		b.result.Warnings = append(b.result.Warnings, fmt.Sprintf("the intervals of the model are not calibrated: %v, such as those of more windows", err))
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("calibrating the intervals: %w", err)
	}
	b.result.Calibrated = true
	return m.WithCorrection("horizon", correction)
}

// correction returns the correction that the forecasts of all origins give. That of few forecasts is the one of a fit that
// has as few validation rows.
func (b *backtest) correction() (*conformal.Correction, error) {
	if len(b.score) >= fitdata.RollingBelow*len(b.origins) {
		return conformal.NewByHorizon(b.engine.Threads(), conformal.Symmetric(b.score), b.location, b.horizon, bins(len(b.score)))
	}
	return conformal.NewByOrigins(b.engine.Threads(), b.score, b.location, b.horizon, b.block)
}

// bins returns the number of groups by size of the prediction.
func bins(rows int) int { return min(20, max(1, rows/(2*conformal.MinGroupRows))) }
