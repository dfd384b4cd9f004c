package train

import (
	"context"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
)

// A validation set of few rows that are later than the training rows is one sample of
// surprises. What it decides is therefore decided at several origins, which lie the
// validation periods apart; each keeps at least half of the training periods. Their number
// is limited by the rows that all fits together read.
const (
	rollingBelow = 1000 // validation rows
	mostOrigins  = 4
	originRows   = 40_000
)

// Origins returns the data and, if its validation rows are later than the training rows and
// few, the data at earlier origins.
func (d *Data) Origins() ([]*Data, error) {
	all := []*Data{d}
	rows, valid := d.Count(dataset.Train), d.Count(dataset.Valid)
	if d.laterMode < 0 || rows == 0 || valid == 0 || valid >= rollingBelow {
		return all, nil
	}
	for k := 1; k < min(mostOrigins, originRows/rows); k++ {
		earlier, err := d.Earlier(k)
		if err != nil {
			return nil, err
		}
		if earlier == nil {
			break
		}
		if earlier.Count(dataset.Valid) > 0 { // not a gap in time
			all = append(all, earlier)
		}
	}
	return all, nil
}

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
func (r *run) at(ctx context.Context, data *Data) (at *run, err error) {
	opt := r.opt
	opt.Ranks, opt.Memory = nil, 0 // each rank has all rows, and these are few
	opt.Threads, opt.Checkpoint, opt.Progress, opt.TimeBudget = 1, "", nil, r.opt.TimeBudget/mostOrigins
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
	var blocks [][]float64 // of scores of one series from one origin
	for _, o := range r.origins {
		own := make([][]float64, o.model.Series().Len()+1)
		rows, horizon := o.validation()
		given := model.Rows{Codes: rows.Codes, Weight: rows.W, Horizon: horizon}
		z := o.model.Moments(o.engine, rows.Codes)
		score, at := make([]float64, rows.Len()), make([]float64, rows.Len())
		backend.ParallelFor(o.engine, rows.Len(), func(i int) {
			p := o.model.Uncorrected(z, given, i)
			score[i], at[i] = p.Score(rows.Target(i), r.spec.Seed, uint64(i)), p.Location()
		})
		for i, s := range score {
			if horizon[i] >= 1 && !math.IsNaN(s) && !math.IsInf(s, 0) {
				scores, location, ahead = append(scores, s), append(location, at[i]), append(ahead, horizon[i])
				series := o.model.Series().Find(rows.Codes, i)
				own[series+1] = append(own[series+1], s)
			}
		}
		blocks = append(blocks, own...)
	}
	if len(scores) == 0 { // training failed at some origins, and the others have no rows
		r.spec.Uncertainty.Conformal = "none"
		return nil
	}
	var correction *conformal.Correction
	var err error
	// Errors that are alike say how large errors are, but not how they are distributed: with signs of both kinds
	// they would have two peaks.
	if known := independent(blocks); known < float64(conformal.RowsNeeded(metrics.IntervalLevels[0])) {
		correction, err = conformal.NewBySize(sizeOf(scores, known), known+1, len(scores), slices.Max(ahead))
	} else {
		scores = conformal.Symmetric(scores)
		wider := studentFactor(known) * widened(scores)
		centre(scores, ahead)
		for i := range scores {
			scores[i] *= wider
		}
		correction, err = conformal.NewByHorizon(r.engine.Threads(), scores, location, ahead, 1)
	}
	if err != nil {
		return err
	}
	r.model, err = r.model.WithCorrection(r.spec.Uncertainty.Conformal, correction)
	return err
}

// centre subtracts from the scores of several horizons the mean of those of the same one, if it has several. Intervals
// become narrower by sqrt(1 - 1/n) for n rows per horizon; the constants of few forecasts were chosen with it.
func centre(scores []float64, horizon []int32) {
	sum, rows := map[int32]float64{}, map[int32]float64{}
	for i, h := range horizon {
		sum[h] += scores[i]
		rows[h]++
	}
	for i, h := range horizon {
		if rows[h] > 1 && len(rows) > 1 {
			scores[i] -= sum[h] / rows[h]
		}
	}
}

// widened returns the factor by which scores are larger than the origins say: 1 if intervals become
// wider. If they would become narrower, by few surprises that happened not to come, this is believed
// by half.
func widened(scores []float64) float64 {
	const level, usual = 0.9, 1.645 // of the size of a normal score
	if len(scores) == 0 {
		return 1
	}
	sizes := make([]float64, len(scores))
	for i, z := range scores {
		sizes[i] = math.Abs(z)
	}
	slices.Sort(sizes)
	size := sizes[int(level*float64(len(sizes)))]
	if !(size > 0 && size < usual) {
		return 1
	}
	return math.Sqrt(usual / size)
}
