package train

import (
	"errors"
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// minConformalRows is the number of validation rows from which a posterior gets a
// conformal correction if the specification says auto.
const minConformalRows = 2000

// HasCorrection reports whether a fit with the given number of validation rows has a
// conformal correction.
func HasCorrection(u spec.Uncertainty, validRows int) bool {
	if u.Conformal == "auto" {
		return u.Bayesian() && !u.Finite() && validRows >= minConformalRows
	}
	return u.Conformal != "none"
}

// resolveConformal decides an automatic conformal correction and records the
// decision in the specification. The validation rows may be forecasts of series.
func (r *run) resolveConformal(forecasts bool) {
	u := &r.spec.Uncertainty
	if u.Conformal != "auto" {
		return
	}
	n := r.size(dataset.Valid)
	corrected := HasCorrection(*u, n)
	u.Conformal = "none"
	if r.spec.Data.Censored != "" {
		return
	}
	switch {
	case !corrected && forecasts && len(r.earlier) > 0 && u.Bayesian():
		u.Conformal = "horizon" // by the forecasts of several origins
	case corrected && r.data.Scales() != nil:
		u.Conformal = "group:" + spec.TargetName
	case corrected && forecasts:
		u.Conformal = "horizon"
	case corrected:
		u.Conformal = "group:mean"
	case u.Bayesian() && !u.Finite():
		r.notes = append(r.notes, fmt.Sprintf("intervals have no conformal correction, because the validation set has only %s; set uncertainty.conformal to split to correct them anyway", plural.Count(n, "row")))
	}
}

// checkHorizonRows returns an error for a correction by horizon whose calibration rows are not
// later than the training rows, because the split is not by time.
func (r *run) checkHorizonRows() error {
	if r.spec.Uncertainty.Conformal != "horizon" || r.measured != nil || r.split.Periods != nil {
		return nil
	}
	if how, err := split.Parse(r.split.Spec); err != nil || how.Given() {
		return err
	}
	return fielderr.Errorf("split", "the conformal correction by horizon is computed from periods after the training rows, and the split %s holds out none; hold out the last periods, as in split time:last=3, or set uncertainty.conformal to group:mean", r.split.Spec)
}

// maxHeldRows is the largest number of rows that a conformal correction is computed from.
const maxHeldRows = 1 << 20

// holdOut reserves half of the validation rows, at most maxHeldRows, chosen by the seed, for
// the conformal correction. With the option HoldOut a fit without a correction leaves them out too.
func (r *run) holdOut() error {
	none := r.spec.Uncertainty.Conformal == "none"
	if r.rolls() {
		return nil
	}
	if none && !r.opt.HoldOut {
		return nil
	}
	valid := r.parts[dataset.Valid]
	n := valid.Len()
	if needed := conformal.RowsNeeded(metrics.IntervalLevels[0]); n/2 < needed {
		if none {
			return nil // no fit on these rows has a correction
		}
		return fielderr.Errorf("uncertainty.conformal", "the conformal correction uses half of the validation set, which has %s, and a 90 %% interval needs %d; enlarge the validation set in split, or set uncertainty.conformal to none", plural.Count(n, "row"), 2*needed)
	}
	held, kept := r.drawHeld()
	r.held, r.parts[dataset.Valid], r.drawn = valid.Select(held), solver.SelectOn(r.engine, valid, kept), nil
	backend.FreeAll(r.engine, valid.Codes)
	backend.FreeAll(r.engine, [][]float32{valid.Y, valid.Low, valid.W, valid.Exposure, valid.Censored})
	return nil
}

// drawHeld draws the rows of the validation set that [run.holdOut] reserves, once.
func (r *run) drawHeld() (held, kept []int) {
	if r.drawn != nil {
		return r.drawn[0], r.drawn[1]
	}
	n := r.parts[dataset.Valid].Len()
	few := min(n/2, maxHeldRows)
	order := paged.Make[int32](nil, n)
	for i := range order {
		order[i] = int32(i)
	}
	randstream.Shuffle(randstream.New(r.spec.Seed, "conformal"), order, few)
	chosen := make([]bool, n)
	for _, i := range order[:few] {
		chosen[i] = true
	}
	held, kept = make([]int, 0, few), make([]int, 0, n-few)
	for i, c := range chosen {
		if c {
			held = append(held, i)
		} else {
			kept = append(kept, i)
		}
	}
	r.drawn = [][]int{held, kept}
	return held, kept
}

// learnCorrection computes the conformal correction and the correction of means from
// the rows held out for them.
func (r *run) learnCorrection() error {
	kind := r.spec.Uncertainty.Conformal
	if kind == "none" {
		return nil
	}
	if r.rolls() {
		return r.correctByOrigins()
	}
	rows := evaluate.RowsOf(&r.held)
	rows.Horizon = r.heldHorizon
	z := r.momentsTogether(rows.Codes)
	var correction *conformal.Correction
	var means *predictive.MeanCurve
	var err error
	engine, release := r.plannedEngine()
	threads := engine.Threads()
	if r.opt.Ranks != nil {
		threads = 1 // which pass messages in the same order
	}
	parallel.For(threads, 2, func(i int) {
		if i == 0 {
			correction, err = evaluate.Correction(engine, r.model, z, rows, kind)
		} else if r.when == nil {
			means = evaluate.MeanCurve(engine, r.model, z, evaluate.RowsOf(&r.held))
		} else {
			means = evaluate.ForecastMeanCurve(engine, r.model, z, rows)
		}
	})
	if err := errors.Join(err, release()); err != nil {
		return err
	}
	if r.model, err = r.model.WithCorrection(kind, correction); err != nil {
		return err
	}
	r.origin = evaluate.OriginOf(r.model, z, rows, correction)
	r.model = r.model.WithMeanCurve(means)
	return nil
}

// decileEdges returns the deciles of the predictions on the validation set, or on the
// training set if there is none.
func (r *run) decileEdges() []float64 {
	part := dataset.Valid
	if r.size(part) == 0 {
		part = dataset.Train
	}
	most, noise := maxScoredRows, r.model.Noise()
	if noise.Count() != nil {
		most = maxCountRows
	}
	o, z := fitdata.Thinned(r.part(part), r.predicted(part), most)
	engine, release := r.plannedEngine()
	defer func() { _ = release() }() // it holds nothing
	return evaluate.DecileEdges(engine, r.model, z, evaluate.RowsOf(o))
}
