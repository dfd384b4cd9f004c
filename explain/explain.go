// Package explain gives reasons for predictions. The prediction of a cell on the
// modelling scale is a sum,
//
//	level = offset + sum over terms,
//
// and every term is divided further by what is known of the ids of the cell. Let v(S)
// be the value of a term if only the sources in S are those of the cell and all others
// are those of the average id, where a source is the own weights of an id (V') or its
// side information (the regression T and its groups). The average of a term is
// v(nothing), and the part of a source is its Shapley value in v: the mean over all
// orders of the sources of the change when the source is added. So
//
//	level = average + sum over sources of their parts
//
// holds exactly, sources that a term does not use have the part 0 in it, and
// interactions are shared equally. The part of a linear function of several numbers is
// divided among them, and added to those of their curves.
package explain

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Options specify what an explanation contains.
type Options struct {
	// Neighbours is the number of nearest ids that are listed for each mode; 0 means 5,
	// and a negative number none.
	Neighbours int
	// WhatIf are changes of the side information of the ids of a cell. Each explanation
	// then says what the prediction would be.
	WhatIf []Change
	// Table is the table of the fit, for the values that it has at a cell and at those of
	// its neighbours; nil for none.
	Table *evaluate.Fitted
	// Strict makes an id with neither training rows nor side information a
	// *model.UnseenError.
	Strict bool
}

// An Explainer explains the predictions of a model. It keeps what all explanations
// share, and is safe for concurrent use.
type Explainer struct {
	m      *model.Model
	mutex  sync.Mutex // guards engine and the operators, whose backends keep scratch memory
	engine *cpu.Backend

	regressions [][][]float64 // by term and core: the average of T; nil without a regression
	averages    [][]float32   // by mode: the average features of a linear function; nil for another mode
	nearby      []proximity   // by mode
}

// maxSources is the largest number of sources of a term: a Shapley value takes 2^sources
// evaluations.
const maxSources = 16

// New returns an explainer of a model. It costs O(ids x columns) for each core with side
// information.
func New(m *model.Model) (*Explainer, error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	x := &Explainer{m: m, engine: cpu.New(path, 1), nearby: make([]proximity, len(m.Modes()))}
	x.averages = make([][]float32, len(m.Modes()))
	for mode := range x.averages {
		if x.averages[mode], err = x.averageNumbers(mode); err != nil {
			return nil, err
		}
	}
	for _, t := range m.Field().Terms {
		var means [][]float64
		for _, c := range t.Cores {
			means = append(means, x.averageRegression(c))
		}
		x.regressions = append(x.regressions, means)
	}
	unknown := unknownCodes(m)
	for _, g := range groupsOf(m.Field()) {
		if game := x.game(m, g, unknown, nil); len(game.sources) > maxSources {
			return nil, fmt.Errorf("term %s depends on %d sources (own weights and side information of its modes), and predictions cannot be divided among more than %d", game.name, len(game.sources), maxSources)
		}
	}
	return x, nil
}

// Cells explains the predictions of cells of a model. Use an [Explainer] for several
// calls.
func Cells(ctx context.Context, m *model.Model, cells []model.Cell, opt Options) ([]Explanation, error) {
	x, err := New(m)
	if err != nil {
		return nil, err
	}
	return x.Cells(ctx, cells, opt)
}

// Cells explains the predictions of cells. A cell that does not fit the model is a
// *model.CellError, and a change that is not possible a *ChangeError. With k sources of
// its ids, a term of P cores costs O(2^k P R^2) per cell; neighbours cost
// O(ids x R^2) per cell and mode.
func (x *Explainer) Cells(ctx context.Context, cells []model.Cell, opt Options) ([]Explanation, error) {
	if opt.Neighbours == 0 {
		opt.Neighbours = 5
	}
	predictions, err := x.m.Predict(ctx, cells, opt.Strict)
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	unmoved := predictions
	if x.m.Blend() != nil {
		if unmoved, err = x.m.WithBlend(nil).Predict(ctx, cells, opt.Strict); err != nil {
			return nil, err
		}
	}
	m, rows, err := x.m.Resolve(cells)
	if err != nil {
		return nil, err
	}
	var moments tt.Moments // for what-if alone
	if len(opt.WhatIf) > 0 {
		x.mutex.Lock()
		moments = m.Moments(x.engine, rows.Codes)
		x.mutex.Unlock()
	}
	out := make([]Explanation, len(cells))
	for i, p := range predictions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := &out[i]
		*e = Explanation{Cell: cells[i], Unseen: p.Unseen, FromSide: p.FromSide, Outcome: outcomeOf(p.Distribution()), Target: m.Spec().Data.Target, Scale: m.Spec().Transform, modes: m.Spec().ModeNames()}
		if t := m.Scale().Transform; t.Linked() {
			e.Scale = t.String()
		}
		for _, info := range m.Modes() {
			if info.Numeric() {
				e.numbers = append(e.numbers, info.Name)
			}
		}
		row := rowAt(rows, i)
		if err := e.divide(x, m, row.Codes, exposureOffset(m, row)); err != nil {
			return nil, err
		}
		if !e.finite() {
			return nil, &model.NotFiniteError{Row: i + 1, Unit: "cell"}
		}
		e.Steps = e.steps(m, unmoved[i].Distribution().Mean())
		if opt.Neighbours > 0 {
			e.Neighbours = x.neighbours(m, cells[i], row.Codes, opt.Neighbours)
		}
		if len(opt.WhatIf) > 0 {
			z := tt.Moments{Mean: moments.Mean[i : i+1]}
			if moments.Var != nil {
				z.Var = moments.Var[i : i+1]
			}
			if e.WhatIf, err = x.whatIf(m, e, row, z, opt.WhatIf); err != nil {
				return nil, err
			}
		}
	}
	if opt.Table != nil {
		x.observe(out, opt.Table.Table)
	}
	return out, nil
}

func outcomeOf(d predictive.Distribution) Outcome {
	all := d.Moments()
	return Outcome{Prediction: all.Mean, Median: d.Median(), SD: all.SD, Low: d.Quantile(.05), High: d.Quantile(.95)}
}

// rowAt returns row i alone.
func rowAt(rows model.Rows, i int) model.Rows {
	row := model.Rows{Codes: make([][]int32, len(rows.Codes))}
	for mode, column := range rows.Codes {
		row.Codes[mode] = column[i : i+1]
	}
	if rows.Weight != nil {
		row.Weight = rows.Weight[i : i+1]
	}
	if rows.Exposure != nil {
		row.Exposure = rows.Exposure[i : i+1]
	}
	if rows.Horizon != nil {
		row.Horizon = rows.Horizon[i : i+1]
	}
	return row
}

// exposureOffset returns what the exposure of a row adds to its level.
func exposureOffset(m *model.Model, row model.Rows) float64 {
	row.Horizon = nil // recent values are a step of their own
	return m.Level(0, row, 0) - m.Scale().Location(0)
}

// divide fills in the level and its contributions.
func (e *Explanation) divide(x *Explainer, m *model.Model, codes [][]int32, exposure float64) error {
	scale, f := m.Scale(), m.Field()
	e.Offset = scale.Center + scale.Spread*float64(f.Offset.Mean) + exposure
	e.Level, e.Average = e.Offset, e.Offset
	sums := make([]float64, 2*len(m.Modes()))
	for _, g := range groupsOf(f) {
		game := x.game(m, g, codes, nil)
		average, parts := game.shapley()
		term := Term{Term: game.name, Average: scale.Spread * average}
		term.Value = term.Average
		for k, source := range game.sources {
			v := scale.Spread * parts[k]
			term.Value += v
			if mode := source / 2; m.Modes()[mode].Linear() && source == sideOf(mode) && v != 0 {
				of, err := x.lineParts(m, g, codes, mode, parts[k])
				if err != nil {
					return err
				}
				for i, at := range m.Modes()[mode].Members(m.Modes()) {
					sums[ownOf(at)] += scale.Spread * of[i]
				}
			} else {
				sums[source] += v
			}
			if source%2 == 0 {
				term.Own += v
			} else {
				term.Side += v
			}
		}
		e.add(term)
	}
	for k := range f.Series {
		e.add(x.seriesTerm(m, k, codes, sums))
	}
	for mode, info := range m.Modes() {
		names := []string{Own, Side}
		if info.Covariate() {
			sums[ownOf(mode)] += sums[sideOf(mode)]
			sums[sideOf(mode)] = 0
			names[0] = Value
		}
		for k, source := range []int{ownOf(mode), sideOf(mode)} {
			if v := sums[source]; v != 0 {
				e.Parts = append(e.Parts, Part{Mode: info.Name, ID: e.idOf(m, mode, codes), Source: names[k], Value: v})
			}
		}
	}
	slices.SortStableFunc(e.Parts, func(a, b Part) int {
		switch {
		case math.Abs(a.Value) > math.Abs(b.Value):
			return -1
		case math.Abs(a.Value) < math.Abs(b.Value):
			return 1
		}
		return 0
	})
	return nil
}

// inverse returns the value of a level in units of the target: the mean of an ordinal
// target, the rate of a count.
func inverse(m *model.Model, level float64) float64 {
	scale := m.Scale()
	if law := m.Noise().Ordinal; law != nil {
		return law.Mean(level)
	}
	switch scale.Transform {
	case targetscale.LogRate:
		return math.Exp(level)
	case targetscale.Logit:
		return 1 / (1 + math.Exp(-level))
	}
	y := scale.Transform.Inverse(level)
	if scale.NonNegative {
		y = max(y, 0)
	}
	return y
}

// steps returns the waterfall from the average to the prediction. The last step is the
// difference between the value of the level and the mean of the distribution; a forecast whose
// forecast follows recent values has one more, from the mean without them.
func (e *Explanation) steps(m *model.Model, unmoved float64) []Step {
	at := e.Average
	value := inverse(m, at)
	steps := []Step{{Label: "average cell", From: 0, To: metrics.Number(value)}}
	for _, p := range e.Parts {
		at += p.Value
		next := inverse(m, at)
		steps = append(steps, Step{Label: p.Label(), From: metrics.Number(value), To: metrics.Number(next)})
		value = next
	}
	steps = append(steps, Step{Label: "mean of the distribution", From: metrics.Number(value), To: metrics.Number(unmoved)})
	if unmoved != e.Prediction {
		steps = append(steps, Step{Label: "recent values of the series", From: metrics.Number(unmoved), To: metrics.Number(e.Prediction)})
	}
	return steps
}
