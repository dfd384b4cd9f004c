package train

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/solver"
)

// learnCopula learns what the errors of forecasts have in common, from the validation rows of all origins.
func (r *run) learnCopula() error {
	u := r.spec.Uncertainty
	if r.opt.Compare || !u.Bayesian() || u.Finite() || r.spec.Data.Censored != "" || r.data.Scales() != nil || r.model.Series() == nil || r.when == nil && len(r.origins) == 0 {
		return nil
	}
	var origins []evaluate.Forecasts
	add := func(o *run, rows *solver.Observations, horizon []int32) {
		if rows.Len() > 0 && horizon != nil {
			forecasts := evaluate.RowsOf(rows)
			forecasts.Horizon = horizon
			origins = append(origins, evaluate.Forecasts{Model: o.model.WithCorrectionsOf(r.model), Rows: forecasts})
		}
	}
	if len(r.origins) == 0 {
		rows, horizon := r.allValidation()
		add(r, &rows, horizon)
	}
	for _, o := range r.origins {
		rows, horizon := o.validation()
		add(o, &rows, horizon)
	}
	if len(origins) == 0 {
		return nil
	}
	shared, err := evaluate.Copula(r.engine, origins, r.history())
	r.model = r.model.WithCopula(shared)
	return err
}

// history returns the values of the training rows by their series, none if these are rates of an exposure.
func (r *run) history() copula.Series {
	if r.spec.Data.Exposure != "" {
		return copula.Series{}
	}
	series, train := r.model.Series(), r.part(dataset.Train)
	of, step := make([]int32, train.Len()), make([]int32, train.Len())
	backend.ParallelFor(r.engine, train.Len(), func(i int) {
		of[i], step[i] = int32(series.Find(train.Codes, i)), series.Steps()[train.Codes[series.Time][i]]
	})
	return copula.NewSeries(of, step, train.Target, r.seasons())
}

// allValidation returns the validation rows, those that are held out and the others, and their horizons.
func (r *run) allValidation() (solver.Observations, []int32) {
	valid, horizon := r.parts[dataset.Valid], r.horizons[dataset.Valid]
	if r.held.Len() == 0 || r.heldHorizon == nil {
		return valid, horizon
	}
	if valid.Len() == 0 || horizon == nil {
		return r.held, r.heldHorizon
	}
	return concat(valid, r.held), slices.Concat(horizon, r.heldHorizon)
}

// concat returns the rows of two parts.
func concat(a, b solver.Observations) solver.Observations {
	both := solver.Observations{Y: slices.Concat(a.Y, b.Y), Low: slices.Concat(a.Low, b.Low), W: slices.Concat(a.W, b.W), Exposure: slices.Concat(a.Exposure, b.Exposure)}
	for m := range a.Codes {
		both.Codes = append(both.Codes, slices.Concat(a.Codes[m], b.Codes[m]))
	}
	return both
}
