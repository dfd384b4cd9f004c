package train

import (
	"context"
	"math"

	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// findOrigins notes the data of earlier origins, if the forecasts of the fit are to be
// measured there too. It needs the table, which may be released afterwards.
func (r *run) findOrigins() error {
	if !r.follows() || r.measured != nil || r.opt.HoldOut || r.opt.Share > 0 && r.opt.Share < 1 || r.spec.Uncertainty.Links() {
		return nil
	}
	all, err := r.data.Origins()
	if err == nil {
		r.earlier = all[1:]
	}
	return err
}

// rolls reports whether intervals are corrected by the forecasts of several origins.
func (r *run) rolls() bool {
	return len(r.earlier) > 0 && r.model.Series() != nil && r.spec.Uncertainty.Conformal == "horizon"
}

// learnPull trains at earlier origins and pulls forecasts towards formulas, if that is better
// at origins that were left out.
func (r *run) learnPull(ctx context.Context) error {
	if len(r.earlier) == 0 || r.model.Series() == nil {
		return nil
	}
	if r.opt.Progress != nil {
		r.opt.Progress(Event{Stage: "evaluate", Note: "forecasts from " + plural.Count(len(r.earlier), "earlier origin")})
	}
	runs, failed := make([]*run, len(r.earlier)), make([]error, len(r.earlier))
	parallel.For(r.engine.Threads(), len(runs), func(k int) { runs[k], failed[k] = r.at(ctx, r.earlier[k]) })
	r.origins = []*run{r}
	for k, at := range runs {
		if ctx.Err() != nil {
			return nil // the model of an interrupted fit is the best so far
		}
		// An earlier origin may have too few rows, a constant target or hardly any series with
		// two rows, none of which says anything about the fit.
		if failed[k] != nil || at.model.Series() == nil {
			continue
		}
		r.origins = append(r.origins, at)
	}
	var rows []blend.Origin
	for _, o := range r.origins {
		valid, horizon := o.validation()
		o.recent = o.recentValues(o.seasons(), true)
		rows = append(rows, blend.Origin{Table: o.recent, Scale: o.model.Scale().Transform, Rows: o.forecasts(&valid, horizon)})
	}
	if pull := blend.LearnPull(r.engine.Threads(), rows); pull != nil {
		for _, o := range r.origins {
			o.model = o.model.WithBlend(o.recent.WithPull(pull))
		}
	}
	return nil
}

// at trains with the same specification at an earlier origin, on one thread: the origins
// are trained side by side.
func (r *run) at(ctx context.Context, data *fitdata.Data) (at *run, err error) {
	opt := r.opt
	opt.Ranks, opt.Memory = nil, 0 // each rank has all rows, and these are few
	opt.Threads, opt.Checkpoint, opt.Progress, opt.TimeBudget = 1, "", nil, r.opt.TimeBudget/fitdata.MostOrigins
	s := r.spec.Clone()
	s.Uncertainty.Conformal, s.Uncertainty.Mixing = "none", "none" // it has no origins of its own
	if at, err = newRun(s, data, opt, false); err != nil {
		return nil, err
	}
	if err = at.plan(ctx); err != nil {
		return nil, err
	}
	solved, err := at.solve(ctx)
	if err != nil {
		return nil, err
	}
	at.learnNoise(solved)
	return at, nil
}

// validation returns the validation rows whose forecasts are measured, those that are held
// out if there are any, and their horizons.
func (r *run) validation() (solver.Observations, []int32) {
	if r.held.Len() == 0 {
		return r.parts[dataset.Valid], r.horizons[dataset.Valid]
	}
	return r.held, r.heldHorizon
}

// correctByOrigins computes the conformal correction from the forecasts of all origins, with
// symmetric scores.
func (r *run) correctByOrigins() error {
	var scores, location []float64
	var ahead []int32
	var blocks []int // numbers of origins and series
	first := 1
	for _, o := range r.origins { // this one is the first
		rows, horizon := o.validation()
		given := evaluate.RowsOf(&rows)
		given.Horizon = horizon
		score, at, spread := evaluate.ForecastScores(o.engine, o.model, o.model.Moments(o.engine, rows.Codes), given, r.spec.Seed)
		if o == r {
			r.origin = conformal.Origin{Spread: spread, Surprised: conformal.Surprised(score)}
		}
		conformal.Grown(score, r.origin.Spread/spread)
		for i, s := range score {
			if horizon[i] >= 1 && !math.IsNaN(s) && !math.IsInf(s, 0) {
				scores, location, ahead = append(scores, s), append(location, at[i]), append(ahead, horizon[i])
				blocks = append(blocks, first+o.model.Series().Find(rows.Codes, i))
			}
		}
		first += o.model.Series().Len() + 1
	}
	if len(scores) == 0 { // training failed at some origins, and the others have no rows
		r.spec.Uncertainty.Conformal = "none"
		return nil
	}
	correction, err := conformal.NewByOrigins(r.engine.Threads(), scores, location, ahead, blocks)
	if err != nil {
		return err
	}
	r.origin.Correction = correction
	r.model, err = r.model.WithCorrection(r.spec.Uncertainty.Conformal, correction)
	return err
}
