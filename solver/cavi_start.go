package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// A posterior that starts far from the data can collapse: while the noise is still
// large, the prior variances of a product of cores shrink to zero one after the
// other. A run of cavi therefore starts with startSweeps sweeps of als under a fixed
// penalty. They are cheap, and the best of their validation scores is a reference:
// a posterior that ends below it, or below a constant, starts again from other
// values. The best attempt is kept, and a warning says so.
const (
	startSweeps = 4
	maxAttempts = 3
	// A score may be worse than the reference by this share of the score's scale,
	// the variance of the target.
	tolerated = 0.01
)

// startRidge is the penalty of the sweeps of als before a posterior.
func (d *data) startRidge() Ridge {
	return Ridge{Kind: Uniform, Lambda: PenaltySearch{}.start(Uniform, d.entityWeights)}
}

// starting reports whether the run has not finished its sweeps of als.
func (r *Run) starting() bool { return r.StartSweep < r.StartSweeps }

// updatePoint fits block i as a point estimate.
func (a *cavi) updatePoint(i int) {
	defer a.uncouple()()
	a.run.Raised += a.residuals.updatePoint(a.ids, i, a.ridge, a.steps, &a.cg)
	if a.d.countSites != nil && a.lastOfTerm(i) {
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
	a.ridge.balance(a.d.b, a.d.field, a.d.entityWeights)
	restore()
	a.evaluateAll()
	if a.d.countSites != nil {
		a.learnSize()
		a.refreshSites(false)
	}
}

// runStart runs the sweeps of als before a posterior. It returns a reason to stop,
// or "" when they are done.
func (dr *driver) runStart(ctx context.Context) (Stop, error) {
	a, ok := dr.method.(*cavi)
	run := &dr.state.Run
	if !ok || !run.starting() {
		return "", nil
	}
	if run.StartSweep == 0 && run.Block == 0 {
		run.Reference = dr.constantScore()
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
		if v := dr.d.validLoss(); v < run.Reference {
			run.Reference = v
		}
	}
	a.begin(run, dr.ridge())
	return "", nil
}

// constantScore returns the validation score of a field of zeros, or noScore without
// a validation set.
func (dr *driver) constantScore() float64 {
	d := dr.d
	if d.validChunk == nil {
		return noScore
	}
	zero := make([]float32, len(d.validY))
	if d.countSites != nil {
		return d.negativeLogLikelihood(zero)
	}
	return meanSquare(d.validY, zero, d.validW)
}

// fellShort reports whether a posterior ended below its reference.
func (dr *driver) fellShort(run *Run) bool {
	if dr.opt.Solver != "cavi" || run.Reference == 0 || run.Reference == noScore {
		return false
	}
	return run.BestScore > run.Reference+tolerated*dr.scoreScale()
}

// scoreScale returns the unit of differences of scores: the variance of the target
// for squared errors, 1 for log likelihoods.
func (dr *driver) scoreScale() float64 {
	d := dr.d
	if d.countSites != nil {
		return 1
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
	return square / total
}

// restartAttempt starts a posterior that fell short again from other values and
// reports whether it did. After the last attempt it returns to the best one.
func (dr *driver) restartAttempt() (bool, error) {
	run := dr.state.Run
	if !dr.fellShort(&run) && run.Attempt == 0 {
		return false, nil
	}
	run.Weights = dr.d.flatten(nil)
	attempt, reference := run.Attempt+1, run.Reference
	if run.Attempt == 0 || run.BestScore < dr.state.Leader.BestScore {
		dr.state.Leader = run
	}
	if !dr.fellShort(&run) || attempt == maxAttempts {
		dr.state.Run, dr.state.Leader = dr.state.Leader, Run{}
		dr.state.Run.Attempt, dr.state.Run.Reference = attempt, reference
		return false, nil
	}
	if err := dr.drawStart(); err != nil {
		return false, err
	}
	dr.drawAttempt(attempt, reference)
	return true, nil
}

// drawAttempt draws the start values of another attempt. The first attempt starts
// from als, the second from random values, the third from als with other ones.
func (dr *driver) drawAttempt(attempt int, reference float64) {
	run := &dr.state.Run
	run.Attempt, run.Reference = attempt, reference
	if attempt == 1 {
		run.StartSweeps = 0
		return
	}
	dr.d.field.Initialize(dr.d.b, func(k int) *rand.Rand {
		return randstream.New(dr.opt.Seed, "attempt", uint64(k), uint64(attempt))
	}, 1)
	run.Weights = dr.d.flatten(nil)
}

// attemptWarnings returns the warnings about the starts of a posterior.
func (dr *driver) attemptWarnings() []string {
	run := &dr.state.Run
	var warnings []string
	if run.Attempt > 1 {
		warnings = append(warnings, fmt.Sprintf("a posterior was worse than a point estimate on the validation set: it was started %d times, and the best result was kept", run.Attempt))
	}
	if dr.fellShort(run) {
		measure := fmt.Sprintf("R2 %.4f", 1-run.BestScore/dr.scoreScale())
		if dr.d.countSites != nil {
			measure = fmt.Sprintf("negative log likelihood %.4f", run.BestScore)
		}
		warnings = append(warnings, fmt.Sprintf("the posterior predicts the validation set worse than a point estimate (%s): its means and intervals are not reliable; use lower ranks in terms, or set uncertainty.inference to map", measure))
	}
	return warnings
}

// startNoise returns the noise at the start of a posterior from the fitted weights:
// their squared error, which the updates of the noise correct.
func startNoise(loss float64, n int) float64 {
	return math.Min(1, math.Max(loss/float64(n), leastStartNoise))
}

// leastStartNoise is the least noise at the start, relative to the variance of the
// target: als under a fixed penalty may fit small data almost exactly.
const leastStartNoise = 1e-2
