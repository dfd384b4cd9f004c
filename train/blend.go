package train

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// follows reports whether the forecasts of the fit may follow recent values of their series.
// Where absent cells are zeros, an update would not know those of its periods.
func (r *run) follows() bool {
	return !r.opt.Compare && r.spec.Uncertainty.Mixing != "none" && !r.spec.Uncertainty.Finite() && r.spec.Data.Censored == "" && r.spec.Data.Exposure == "" && r.data.Scales() == nil && !r.data.AbsentZero()
}

// mixes reports whether moves and mixed means are learned on the validation rows, unless these are a surprise.
func (r *run) mixes() bool {
	return r.follows() && !r.origin.Surprised && len(r.origins) == 0 && r.when != nil && r.heldHorizon != nil && r.model.Series() != nil
}

// learnMoves moves forecasts towards recent values of their series, if that is better on
// the validation rows that are not held out.
func (r *run) learnMoves() {
	if !r.mixes() {
		return
	}
	r.recent = r.recentValues(r.seasons(), false)
	scale, valid, horizon := r.model.Scale().Transform, r.parts[dataset.Valid], r.horizons[dataset.Valid]
	if scale.Linked() {
		return
	}
	if n := valid.Len(); n > maxScoredRows {
		some := fitdata.Spread(n, maxScoredRows)
		valid, horizon = valid.Select(some), gather.Rows(horizon, some)
	}
	r.model = r.model.WithBlend(r.recent.LearnMove(r.engine.Threads(), scale, r.forecasts(&valid, horizon)))
}

// seasons returns the seasons of the calendar in steps; running numbers have none.
func (r *run) seasons() (steps []int32) {
	if line := r.model.Series().Line; line.Unit() != "" {
		for _, s := range baseline.SeasonsOf(line) {
			steps = append(steps, int32(min(s.Periods, math.MaxInt32)))
		}
	}
	return steps
}

// learnBlend mixes the means of forecasts with recent values of their series, if that is
// better on the rows that were held out.
func (r *run) learnBlend() {
	if !r.mixes() {
		return
	}
	table := r.model.Blend()
	if table == nil {
		table = r.recent
	}
	r.model = r.model.WithBlend(table.Learn(r.engine.Threads(), r.forecasts(&r.held, r.heldHorizon)))
}

// forecasts returns what the model predicts for rows after the training rows, with means that are corrected, but not mixed.
func (r *run) forecasts(o *solver.Observations, horizon []int32) blend.Rows {
	given := model.Rows{Codes: o.Codes, Weight: o.W, Horizon: horizon}
	z := r.model.Moments(r.engine, o.Codes)
	rows := blend.Rows{Codes: o.Codes, Horizon: horizon, Weight: o.W, Location: make([]float64, o.Len()), Mean: make([]float64, o.Len()), Y: make([]float64, o.Len())}
	backend.ParallelFor(r.engine, o.Len(), func(i int) {
		p := r.model.Uncorrected(z, given, i)
		rows.Location[i], rows.Mean[i], rows.Y[i] = p.Location(), p.WithMeanCurve(r.model.MeanCurve()).Mean(), o.Target(i)
	})
	return rows
}

// recentValues returns the recent values of the training rows, and what formulas need.
func (r *run) recentValues(seasons []int32, formulas bool) *blend.Table {
	train := r.part(dataset.Train)
	return blend.New(r.engine.Threads(), r.model.Series(), train.Codes, train.Target, seasons, formulas)
}
