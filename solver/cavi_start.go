package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/tt"
)

// A posterior can collapse: while the noise is still large, the prior variances of a
// product of cores shrink to zero one after the other. It can also end far from the
// data. When a run of cavi ends, sweeps of als under increasing penalties therefore
// give a reference, the score of a point estimate on the validation set. A posterior
// that is worse than the reference, or than a constant, starts again from the weights
// of als, at last from those of another random start. The best attempt is kept.
const (
	referenceSweeps = 16
	penaltySweeps   = 4 // with one penalty
	referenceFactor = 3 // between one penalty and the next
	maxAttempts     = 3 // the first included
	// From this number of observations on the reference has one penalty only: it would take
	// longer than the posterior, and so many observations determine the weights.
	manyObservations = 1 << 23
	// A score may be worse than the reference by this share of the variance of the
	// target, or, for counts, by this mean log likelihood.
	tolerated = 0.01
	// Without a validation set, a posterior that explains less of the variance of the
	// training data has collapsed.
	leastExplained = 0.02
)

// startRidge returns the penalty of a sweep of als before a posterior.
func (d *data) startRidge(sweep int) Ridge {
	step := float64(sweep / penaltySweeps)
	if d.validChunk == nil {
		step = 1
	}
	if d.startLambda == 0 {
		d.startLambda = PenaltySearch{}.Start(Uniform, d.offered.entityWeights)
	}
	return Ridge{Kind: Uniform, Lambda: d.startLambda * math.Pow(referenceFactor, step)}
}

// starting reports whether the run has not finished its sweeps of als.
func (r *Run) starting() bool { return r.StartSweep < r.StartSweeps }

// updatePoint fits block i as a point estimate.
func (a *cavi) updatePoint(i int) {
	if i == len(a.ids)+len(a.d.series) {
		return
	}
	if i >= len(a.ids) {
		a.updatePointSeries(a.d.series[i-len(a.ids)], a.d.sites == nil || a.run.StartSweep%penaltySweeps == 0)
		return
	}
	defer a.uncouple()()
	a.residuals.updatePoint(a.ids, i, a.d.startRidge(a.run.StartSweep), a.steps, &a.pointCG)
	if a.d.sites != nil && a.lastOfTerm(i) && a.refreshesAfter(a.ids[i].term) {
		a.refreshSites(false)
	}
}

// lastOfTerm reports whether block i is the last one of its term in the order of
// updates.
func (a *cavi) lastOfTerm(i int) bool { return i+1 == len(a.ids) || a.ids[i+1].term != a.ids[i].term }

// uncouple gives weighted regressions the penalty whose V' stays near 1, the prior
// mean of posteriors, until the returned function is called.
func (a *cavi) uncouple() (restore func()) {
	var coupled []*bool
	for _, t := range a.d.field.Terms {
		for _, c := range t.Cores {
			if c.Coupled {
				c.Coupled = false
				coupled = append(coupled, &c.Coupled)
			}
		}
	}
	return func() {
		for _, c := range coupled {
			*c = true
		}
	}
}

// endPointSweep balances the cores after a sweep of als.
func (a *cavi) endPointSweep() {
	restore := a.uncouple()
	a.d.startRidge(a.run.StartSweep).Balance(a.d.b, a.d.field, a.d.entityWeights)
	restore()
	a.evaluateBalanced()
	if a.d.sites != nil {
		a.learnLaw()
		a.refreshSites(false)
	}
}

// startFromPoint starts the posterior from the weights of als, with their squared
// error as noise.
func (a *cavi) startFromPoint() {
	a.points = true
	a.evaluateAll()
	loss := a.residuals.loss()
	a.d.startPosterior()
	if a.d.sites == nil {
		a.d.noise[0] = float32(min(1, max(loss/float64(len(a.d.y)), leastStartNoise)))
	}
}

// leastStartNoise is the least noise at the start, relative to the variance of the
// target: als may fit small data almost exactly.
const leastStartNoise = 1e-2

// runReference runs the sweeps of als of an attempt and ends when the validation
// score gets worse. It returns a reason to stop, or "" when they are done.
func (dr *driver) runReference(ctx context.Context) (Stop, error) {
	a, ok := dr.method.(*cavi)
	run := &dr.state.Run
	if !ok || !run.starting() {
		return "", nil
	}
	for ; run.starting(); run.StartSweep, run.Block = run.StartSweep+1, 0 {
		for ; run.Block < a.blocks(); run.Block++ {
			if stop := dr.stopReason(ctx); stop != "" {
				return stop, nil
			}
			if err := dr.saveIfDue(); err != nil {
				return "", err
			}
			a.updatePoint(run.Block)
			dr.blocks++
		}
		a.endPointSweep()
		dr.endReferenceSweep(run)
	}
	if len(run.Best) > 0 {
		if err := dr.d.restore(run.Best); err != nil {
			return "", err
		}
		run.Best = nil
	}
	dr.d.noise[0] = 0
	clear(dr.d.parameters)
	return "", nil
}

// endReferenceSweep keeps the best weights of als.
func (dr *driver) endReferenceSweep(run *Run) {
	if dr.d.validChunk == nil {
		return
	}
	v := dr.d.validLoss()
	switch {
	case v < run.StartScore:
		run.StartScore, run.Best = v, dr.d.flatten(run.Best)
		run.Reference = min(run.Reference, v)
	case run.StartSweep%penaltySweeps == penaltySweeps-1: // this penalty is worse than the one before
		run.StartSweeps = run.StartSweep + 1
	}
}

// constantScore returns the validation score of a field of zeros, or noScore without
// a validation set.
func (dr *driver) constantScore() float64 {
	d := dr.d
	if d.validChunk == nil {
		return noScore
	}
	zero := make([]float32, len(d.validY))
	if d.sites != nil {
		return d.negativeLogLikelihood(zero)
	}
	return meanSquare(d.b.Threads(), d.validY, zero, d.validW)
}

// fellShort reports whether a posterior is worse than the reference, or, without a
// validation set, whether it collapsed.
func (dr *driver) fellShort(run *Run, reference float64) bool {
	if dr.d.validChunk != nil {
		return run.BestScore > reference+tolerated*dr.scoreScale()
	}
	n := len(run.Points)
	if n == 0 || dr.d.sites != nil || dr.d.noiseWeights != nil {
		return false
	}
	return run.Points[n-1].Train > (1-leastExplained)*meanSquare(dr.d.b.Threads(), dr.d.y, make([]float32, len(dr.d.y)), dr.d.w)
}

// scoreScale returns the unit of differences of scores: the variance of the target
// for squared errors, 1 for log likelihoods.
func (dr *driver) scoreScale() float64 {
	d := dr.d
	if d.sites != nil {
		return 1
	}
	if d.validScale != nil {
		return *d.validScale
	}
	sum, total := 0.0, 0.0
	for i, y := range d.validY {
		w := weightAt(d.validW, i)
		sum, total = sum+w*float64(y), total+w
	}
	mean, square := sum/total, 0.0
	for i, y := range d.validY {
		square += weightAt(d.validW, i) * (float64(y) - mean) * (float64(y) - mean)
	}
	square /= total
	d.validScale = &square
	return square
}

// comparable reports whether the posterior can be compared with a point estimate. Given
// variances define the posterior that was asked for, a validation set without
// variance defines no R2, and a linear field does not depend on its start.
func (dr *driver) comparable() bool {
	given := dr.d.givenNoise > 0 || dr.d.givenPrior > 0
	return !given && !dr.scoredByBound() && (dr.d.validChunk == nil || dr.scoreScale() > 0)
}

// linearCounts reports whether the field of a likelihood with sites is linear as it was offered: it has one
// optimum, and there is no noise that could take in what effects explain.
func (d *data) linearCounts() bool {
	return d.sites != nil && d.field.Group == nil && !slices.ContainsFunc(d.offered.terms, func(t *tt.Train) bool { return len(t.Cores) > 1 })
}

// endAttempt ends an attempt of cavi that stopped for the given reason. It reports
// whether another one follows; after the last one the state holds the best.
func (dr *driver) endAttempt(stop Stop) (again bool, err error) {
	run := dr.state.Run
	if !dr.comparable() || dr.continues() || dr.d.linearCounts() {
		return false, nil
	}
	if run.Attempt == 0 {
		if !run.Tempered {
			if trains, curves := dr.collapsed(); trains || curves {
				return true, dr.drawTempered(stop, curves && !trains)
			}
		}
		if first := dr.state.Leader; run.Tempered && len(first.Weights) > 0 && first.BestScore <= run.BestScore {
			run, stop = first, first.Stop
			if err := dr.restoreRun(&run, run.Weights); err != nil {
				return false, err
			}
			dr.method.begin(&run, dr.ridge())
			dr.state.Run = run
		}
		run.Reference = dr.constantScore()
		run.Stop = stop
		if dr.d.validChunk == nil && !dr.fellShort(&run, 0) {
			return false, nil
		}
	}
	attempt, reference := run.Attempt+1, run.Reference
	if run.Attempt == 0 || run.BestScore < dr.state.Leader.BestScore {
		run.Stop, run.Weights, run.Memory = stop, dr.d.flatten(nil), nil
		dr.state.Leader = run
	}
	if run.Attempt > 0 && !dr.fellShort(&dr.state.Leader, reference) || attempt == maxAttempts {
		return false, dr.takeLeader(attempt, reference)
	}
	return true, dr.drawAttempt(attempt, reference)
}

// takeLeader makes the best attempt the result.
func (dr *driver) takeLeader(attempts int, reference float64) error {
	dr.state.Run, dr.state.Leader = dr.state.Leader, Run{}
	dr.state.Run.Attempt, dr.state.Run.Reference = attempts, reference
	return dr.restoreRun(&dr.state.Run, dr.state.Run.Weights)
}

// drawAttempt draws the start values of another attempt.
func (dr *driver) drawAttempt(attempt int, reference float64) error {
	if err := dr.drawStart(attempt); err != nil {
		return err
	}
	run := &dr.state.Run
	run.Attempt, run.Reference, run.StartScore, run.StartSweeps = attempt, reference, noScore, referenceSweeps
	if len(dr.d.y) >= manyObservations {
		run.StartSweeps = penaltySweeps
	}
	return nil
}

// attempt runs one attempt of cavi, or the only run of another solver.
func (dr *driver) attempt(ctx context.Context) (Stop, error) {
	stop, err := dr.runReference(ctx)
	if stop != "" || err != nil {
		return stop, err
	}
	run := &dr.state.Run
	if run.StartSweeps > 0 {
		if run.Attempt == 1 && !dr.fellShort(&dr.state.Leader, run.Reference) {
			return Converged, nil // the first attempt is good enough
		}
		if dr.d.noise[0] == 0 {
			dr.method.begin(run, dr.ridge())
		}
	}
	stop, err = dr.runSweeps(ctx)
	var diverged *DivergedError
	if (run.Attempt > 0 || run.Tempered) && errors.As(err, &diverged) {
		return Diverged, nil
	}
	return stop, err
}

// attemptWarnings returns a warning if the best attempt of a posterior is behind a point estimate.
func (dr *driver) attemptWarnings() []string {
	run := &dr.state.Run
	var warnings []string
	if run.Attempt == 0 {
		return nil
	}
	if dr.fellShort(run, run.Reference) {
		comparison := "the posterior explains almost nothing of the training data"
		switch {
		case dr.d.sites != nil:
			comparison = fmt.Sprintf("the posterior predicts the validation set worse than a point estimate does (negative log likelihood %.4f, point estimate %.4f)", run.BestScore, run.Reference)
		case dr.d.validChunk != nil:
			scale := dr.scoreScale()
			comparison = fmt.Sprintf("the posterior predicts the validation set worse than a point estimate does (R2 %.4f, point estimate %.4f)", 1-run.BestScore/scale, 1-run.Reference/scale)
		}
		warnings = append(warnings, comparison+"; use lower ranks in terms, or set uncertainty.inference to map")
	}
	return warnings
}
