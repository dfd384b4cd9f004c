package train

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
)

// learnBlend mixes the means of forecasts with recent values of their series, if that is
// better on the rows that were held out.
func (r *run) learnBlend() {
	if r.opt.Compare || r.spec.Uncertainty.Mixing == "none" || r.when == nil || r.heldHorizon == nil || r.model.Series() == nil || r.data.targets != nil || r.spec.Data.Censored != "" || r.spec.Data.Exposure != "" || r.spec.Uncertainty.Finite() {
		return
	}
	rows := rowsOf(&r.held)
	rows.Horizon = r.heldHorizon
	z := r.model.Moments(r.engine, rows.Codes)
	held := blend.Rows{Codes: rows.Codes, Horizon: rows.Horizon, Weight: rows.W, Location: make([]float64, r.held.Len()), Mean: make([]float64, r.held.Len()), Y: make([]float64, r.held.Len())}
	given := model.Rows{Codes: rows.Codes, Weight: rows.W, Horizon: rows.Horizon}
	backend.ParallelFor(r.engine, len(held.Y), func(i int) {
		p := r.model.Uncorrected(z, given, i)
		held.Location[i], held.Mean[i], held.Y[i] = p.Location(), p.Mean(), r.held.Target(i)
	})
	var seasons []int32
	if line := r.model.Series().Line; line.Unit() != "" { // running numbers have no calendar
		for _, s := range baseline.SeasonsOf(line) {
			seasons = append(seasons, int32(min(s.Periods, math.MaxInt32)))
		}
	}
	r.model = r.model.WithBlend(r.recentValues(seasons).Learn(r.engine.Threads(), held))
}

// recentValues returns the recent values of the training rows.
func (r *run) recentValues(seasons []int32) *blend.Table {
	train := &r.parts[dataset.Train]
	return blend.New(r.engine.Threads(), r.model.Series(), train.Codes, train.Target, seasons)
}
