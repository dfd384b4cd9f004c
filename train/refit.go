package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
)

// R2 on the modelling scale of a refit, on its own rows, should lie between those of the
// first training on the validation set and on the training set. Below and above this range
// these differences are tolerated: a posterior may have collapsed after its random start,
// and without a validation set nothing else would detect it, or a point estimate may follow
// its rows too closely. A posterior that few validation rows stopped early may follow them
// much more closely afterwards.
const (
	refitLoss = 0.01
	refitGain = 0.1
	// Few validation rows stop a training by chance. The training of a posterior on all
	// rows then has all sweeps of the first, and at least some.
	fewValidRows     = 1000
	leastRefitSweeps = 10
	// The noise of a posterior changes little with more rows. If it has this many times the
	// variance that it had, the refit gave to the noise what a term had explained before, as
	// an autoregressive part of a series can.
	otherNoise = 1.5
)

// exceedsLimit is why a refit is given up.
const exceedsLimit = "it needs more memory than the limit allows"

// Refit trains a model that [Fit] returned again, with the same
// scale, terms and penalty and as many sweeps as the best of the first training: which is
// [spec.RefitAll] for the rows of all parts, or [spec.RefitValid] for the training and validation rows.
// In that case the test set is measured again, and so are the formulas beside it. Other scores,
// noise, conformal correction and correction of means stay those of the first, but for the
// noise of a small table where that of the second is much larger. If the second
// training does not finish or is worse than the first, Refit returns the given model with
// a warning. Checkpoints of the second training are in the folder refit or refit-valid of those of
// the first.
func Refit(ctx context.Context, m *model.Model, report *Report, data *fitdata.Data, which string, opt Options) (result *model.Model, again *Report, err error) {
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, nil, err
	}
	last := dataset.Test
	if which == spec.RefitValid {
		last = dataset.Valid
	}
	if data, err = data.WithPoints(m.Spec()); err != nil {
		return nil, nil, err
	}
	if data, err = data.WithHistory(last); err != nil {
		return nil, nil, err
	}
	opt.Checkpoint = refitFolder(which, opt)
	record, engine := m.Record(), cpu.New(path, opt.Threads)
	r := &run{spec: refitSpec(m.Spec(), record, m.Field().Linear()), opt: opt, engine: engine, data: data, measured: m, last: last, settings: report.settings, origin: report.origin, ofTargets: slices.Clone(report.ofTargets), seconds: map[string]float64{}, began: time.Now()}
	if err := r.openPages(); err != nil {
		return nil, nil, err
	}
	engine.SetPages(r.pages)
	defer r.closePages(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // for Recover
	defer r.recoverPages(&err)
	defer r.leavePages(&err)
	if err := r.openCheckpoint(); err != nil {
		return nil, nil, err
	}
	defer r.closeCheckpoint()
	var refit *model.Refit
	var passes int
	var failure string
	switch {
	case ctx.Err() != nil:
		failure = "the first training was interrupted"
	case record.Best < 0:
		failure = "no sweep of the first training had ended"
	case report.refused == which || report.refused == spec.RefitValid:
		failure = exceedsLimit
	default:
		if err := r.stage("refit", func() (err error) { refit, passes, failure, err = r.refit(ctx, &record); return err }); err != nil {
			if ctx.Err() == nil {
				return nil, nil, err
			}
			failure = "it was interrupted"
		}
	}
	if refit != nil && failure == "" && last < dataset.Test && r.size(dataset.Test) > 0 {
		refit.KeepsTest, refit.Measured = true, refit.Rows
		record.Refit = refit
		if err := r.stage("evaluate", func() error { return r.judge(&record) }); err != nil {
			return nil, nil, err
		}
	}
	after := *report
	again = &after
	again.Seconds, again.origin = map[string]float64{}, r.origin
	maps.Copy(again.Seconds, report.Seconds)
	again.Seconds["refit"] += time.Since(r.began).Seconds()
	again.Seconds["total"] += time.Since(r.began).Seconds()
	again.Passes, again.PeakRSS = report.Passes+passes, max(report.PeakRSS, sysmemory.Peak())
	again.CheckpointWarning = cmp.Or(r.checkpointWarning, report.CheckpointWarning)
	result = m
	if refit != nil && refit.KeepsTest {
		again.held = r.heldOut()
	}
	if failure != "" {
		known, without := "training set alone", spec.RefitNone
		if record.Refit != nil {
			known, without = "training and validation set", spec.RefitValid
		}
		text := fmt.Sprintf("the model is that of the %s: the refit was given up, because %s", known, failure)
		if ctx.Err() == nil {
			text += "; set fit.refit to " + without + " to fit without it"
		}
		record.Warnings = append(record.Warnings, text)
	} else {
		result = r.model
		if record.Refit != nil && !refit.KeepsTest {
			refit.Measured, refit.Noise = record.Refit.Measured, refit.Noise || record.Refit.Noise
		}
		if last == dataset.Test && len(report.held.Mean) > 0 {
			result = result.WithHeldOut(report.held)
		}
		record.Refit, record.Side = refit, r.operators.Reports
		again.Weights = result.Weights()
	}
	again.Record = record
	return result.WithRecord(record), again, nil
}

// CheckRefit returns the error that Refit would return after the first training because of
// the folder of its checkpoints.
func CheckRefit(which string, opt Options) error {
	if opt.Checkpoint == "" {
		return nil
	}
	var err error
	if collective.Leads(opt.Ranks) {
		c := &checkpoint.Folder{Path: refitFolder(which, opt)}
		err = c.Open(opt.Resume)
		c.Close()
	}
	return collective.AgreeErrors(opt.Ranks, err)
}

// refitFolder returns the folder for the checkpoints of a refit, "" for none.
func refitFolder(which string, opt Options) string {
	if opt.Checkpoint == "" {
		return ""
	}
	if which == spec.RefitValid {
		return filepath.Join(opt.Checkpoint, "refit-valid")
	}
	return filepath.Join(opt.Checkpoint, "refit")
}

// refitSpec returns the specification of the second training: nothing is left to choose. Terms that
// the first training removed are left out of a linear model only. Trains that start without them
// may end in a worse optimum.
func refitSpec(s spec.Spec, record model.Record, linear bool) spec.Spec {
	sweeps := record.Best + 1
	if s.Uncertainty.Bayesian() && record.Valid.N < fewValidRows {
		sweeps = min(max(sweeps, len(record.History), leastRefitSweeps), s.Fit.Sweeps)
	}
	sweeps = max(sweeps, 1)
	s.Fit.Sweeps, s.Fit.Epochs, s.Fit.Patience = sweeps, sweeps, sweeps
	if linear {
		s.Terms = record.KeptTerms(s.Terms)
	}
	if !s.Uncertainty.Bayesian() {
		s.Fit.Ridge, s.Fit.Lambda = string(record.Ridge.Kind), spec.LambdaOf(record.Ridge.Lambda)
	}
	return s
}

// refit trains on the rows of the refit. A failure says why the result is not to be used. The record gets the
// terms of trains that the first training pruned: they are whole again, unless the refit continues it.
func (r *run) refit(ctx context.Context, record *model.Record) (refit *model.Refit, passes int, failure string, err error) {
	err = r.planWithin(ctx)
	_, exceeds := errors.AsType[*MemoryError](err)
	switch {
	case err != nil && !exceeds:
		return nil, 0, "", err
	case r.anyRank(exceeds):
		return nil, 0, exceedsLimit, nil
	}
	solved, err := r.solve(ctx)
	var diverged *solver.DivergedError
	switch {
	case errors.As(err, &diverged):
		return nil, 0, "it diverged", nil
	case err != nil:
		return nil, 0, "", err
	case solved.Stop == solver.Budget:
		return nil, solved.Passes, fmt.Sprintf("the time budget ended after %d of its %d sweeps", len(solved.Points), solved.Limit), nil
	case solved.Stop == solver.Interrupted || solved.Stop == solver.Diverged:
		return nil, solved.Passes, fmt.Sprintf("it ended after %d of %d sweeps (%s)", len(solved.Points), solved.Limit, solved.Stop), nil
	}
	r.field.Response = r.measured.Field().Response
	r.operators.ReportLearned()
	r.model, r.operators.Reports, _ = r.model.KeepSideRows(r.engine, r.operators.Extra, r.operators.Reports)
	// The noise stays too: errors of a point estimate on its own training rows are too
	// small, and the correction of a posterior's intervals goes with the noise it was
	// computed for. With noise learned again, 90 % intervals held 88 % of new rows. With
	// that of a refit alone, intervals of forecasts without a correction held less too.
	own := r.leavesMoreNoise(solved)
	if !own {
		r.model = r.model.WithNoise(r.measured.Noise())
	}
	if err := errors.Join(r.keepStatistics(solved), r.releasePlanned()); err != nil {
		return nil, 0, "", err
	}
	r.model = r.model.WithCorrectionsOf(r.measured).WithRecord(*record) // measures need the edges of the record
	if before := r.measured.Heaping(); before != nil {
		if table := r.heaping(); table != nil {
			r.model = r.model.WithHeaping(table.WithLevelsOf(before))
		}
	}
	if before := r.measured.Blend(); before != nil {
		r.model = r.model.WithBlend(r.recentValues(before.Seasons(), before.HasFormulas()).WithSharesOf(before))
	}
	if later := r.last == dataset.Valid && r.size(dataset.Test) > 0; r.origin.Correction != nil && (later || r.origin.Later != nil) {
		var rows evaluate.Rows
		var z tt.Moments
		if later {
			rows, z = evaluate.RowsOf(r.part(dataset.Test)), r.predicted(dataset.Test)
			rows.Horizon = r.horizons[dataset.Test]
		}
		if r.model, r.origin, err = evaluate.CorrectAgain(r.engine, r.model, z, rows, r.origin); err != nil {
			return nil, 0, "", err
		}
	}
	score, err := r.measure(dataset.Train)
	if err != nil {
		return nil, 0, "", err
	}
	// Of counts the R2 of means tells it: the logarithm of a rate is far from that of a zero.
	r2, on := func(s metrics.Score) float64 { return float64(s.R2Scale) }, " on the modelling scale"
	counts := r.spec.Uncertainty.Counts()
	if counts {
		r2, on = func(s metrics.Score) float64 { return float64(s.R2) }, ""
	}
	before := record.Valid
	if before.N == 0 || r2(record.Train) < r2(before) { // with lags, the validation set may know more than the training set
		before = record.Train
	}
	// The posterior of effects and series has one optimum, but with sites in place of counts it may drift away: the
	// zeros of a hurdle ask for low rates, and its other values for high ones.
	collapses := !r.spec.Uncertainty.Bayesian() || !r.field.Linear() || counts
	if collapses && r2(score) < r2(before)-refitLoss {
		return nil, solved.Passes, fmt.Sprintf("it explains less of its rows than the first training did of others (R2 %.4f and %.4f%s)", r2(score), r2(before), on), nil
	}
	if score.R2Scale > record.Train.R2Scale+refitGain && !r.spec.Uncertainty.Bayesian() {
		return nil, solved.Passes, fmt.Sprintf("it follows its rows much more closely than the first training did (R2 %.4f and %.4f on the modelling scale)", score.R2Scale, record.Train.R2Scale), nil
	}
	if prunedTrains(r.measured) {
		record.Terms = r.contributions(solved)
	}
	return &model.Refit{Rows: r.size(dataset.Train), Sweeps: len(solved.Points), R2Scale: score.R2Scale, Noise: own}, solved.Passes, "", nil
}

// heldOut returns the moments at the test rows, for a model that is trained on them afterwards. Those
// of forecasts would need the horizons from before, those of heaped values the factors from before, and rows that
// are not in the table or belong to one of several targets are not found again.
func (r *run) heldOut() tt.Moments {
	if r.data.AbsentZero() || r.data.Scales() != nil || r.data.LaterMode() >= 0 || r.opt.Ranks != nil || r.size(dataset.Test) == 0 || r.model.Heaping() != nil {
		return tt.Moments{}
	}
	return r.predicted(dataset.Test)
}

// judge measures the test rows again after a refit that has not seen them, and the formulas, which know
// as many rows as the model then, and replaces the warnings that follow from them.
func (r *run) judge(record *model.Record) error {
	before := judgements(r.measured, *record)
	record.Warnings = slices.DeleteFunc(slices.Clone(record.Warnings), func(w string) bool { return slices.Contains(before, w) })
	record.Baseline = withTestScores(record.Baseline, r.baseline())
	var err error
	if record.Test, err = r.measure(dataset.Test); err != nil {
		return err
	}
	if record.Compared, err = r.measureCompared(dataset.Test); err != nil {
		return err
	}
	targets, err := r.scoreTargets()
	if err != nil {
		return err
	}
	for k := range record.Targets {
		record.Targets[k].Test = targets[k].Test
		record.Targets[k].Baseline = withTestScores(record.Targets[k].Baseline, targets[k].Baseline)
	}
	record.Warnings = append(record.Warnings, judgements(r.model.WithRecord(*record), *record)...)
	return nil
}

// withTestScores returns formulas with the scores on the test set that they have in another list.
func withTestScores(formulas, other []model.BaselineScores) []model.BaselineScores {
	formulas = slices.Clone(formulas)
	for i := range formulas {
		for _, o := range other {
			if o.Name == formulas[i].Name {
				formulas[i].Test = o.Test
			}
		}
	}
	return formulas
}

// leavesMoreNoise learns the noise again and reports whether it is much larger than that of
// the first training. With the smaller noise intervals would be far too narrow. Only a
// posterior on a small table is examined: with many validation rows the first training did
// not stop by chance.
func (r *run) leavesMoreNoise(solved solver.Report) bool {
	u, before := r.spec.Uncertainty, r.measured.Noise()
	if _, given := u.NoiseVariance.Value(); given || !u.Bayesian() || u.OwnNoise() || u.Noise == spec.Auto || r.opt.Ranks != nil || r.measured.Record().Valid.N >= fewValidRows {
		return false
	}
	r.learnNoise(solved)
	return r.meanNoise(r.model.Noise()) > otherNoise*r.meanNoise(before)
}

// meanNoise returns the geometric mean of the noise variances of the training rows: a few large ones would determine another mean.
func (r *run) meanNoise(n model.Noise) float64 {
	z, scale, sum := r.predicted(dataset.Train), r.model.Scale(), 0.0
	rows := n.Rows(r.part(dataset.Train).Codes, nil, func(i int) float64 { return scale.Location(z.Mean[i]) })
	for i := range z.Mean {
		sum += math.Log(rows.UnitVariance(i)) / float64(len(z.Mean))
	}
	return math.Exp(sum)
}
