package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver/penalty"
)

// method is one algorithm that lowers the objective block by block.
type method interface {
	blocks() int
	blockName(i int) string
	begin(r *Run, ridge Ridge) // start or continue from the current weights
	update(i int)
	loss() float64              // summed training loss
	score(loss float64) float64 // per observation, lower is better; used without a validation set
	failure() error             // why the weights of the last block are not finite; nil if they are
	endSweep(improved bool)
	forget() // earlier weights were restored
}

// noScore is the score before the first sweep has ended.
const noScore = math.MaxFloat64

// driver runs a method: it schedules sweeps, searches for the penalty, stops early,
// keeps the best weights and saves checkpoints.
type driver struct {
	d          *data
	method     method
	opt        Options
	state      *State
	started    time.Time
	saved      time.Time // time of the last save
	blocks     int       // blocks updated
	warnings   []string
	startTheta [][]float64 // start values of the kernels' parameters
}

// Solve fits the field of the problem. Cancelling ctx stops it before the next block
// with the best weights so far, which is not an error.
func Solve(ctx context.Context, p *Problem, opt Options) (Report, error) {
	if err := opt.validate(); err != nil {
		return Report{}, err
	}
	d, err := newData(p)
	if err != nil {
		return Report{}, err
	}
	defer d.freeScratch()
	d.givenNoise, d.givenPrior = float32(opt.NoiseVariance), float32(opt.PriorVariance)
	dr := &driver{d: d, opt: opt, state: &State{}}
	for _, k := range d.kernels {
		dr.startTheta = append(dr.startTheta, k.Operator.Theta())
	}
	switch opt.Solver {
	case "adam":
		if err := opt.validatePosterior(d); err != nil {
			return Report{}, err
		}
		dr.method = newAdam(d, p.Train, opt)
		if d.hasPosterior() {
			dr.opt.Ridge = &Ridge{Kind: Uniform} // unused: priors replace the penalty
			dr.warnings = append(dr.warnings, entityCovarianceWarning(d)...)
		}
	case "als":
		dr.method = newALS(d, p.Train, opt.CGSteps)
	case "cavi":
		if opt.Likelihood != nil {
			d.startSites(*opt.Likelihood)
		}
		if opt.Noise != nil {
			d.startNoiseWeights(opt.Noise, opt.Correlated)
		}
		a := newCAVI(d, p.Train, opt.CGSteps)
		a.start, dr.method = opt.Start, a
		dr.opt.Ridge = &Ridge{Kind: Uniform} // unused: priors replace the penalty
	}
	if dr.opt.now == nil {
		dr.opt.now = time.Now
	}
	dr.started = dr.opt.now()
	dr.saved = dr.started
	if dr.opt.Ridge == nil && d.validChunk == nil {
		first, _ := opt.PenaltySearch.Next(nil, d.entityWeights)
		dr.opt.Ridge = &first
		dr.warnings = append(dr.warnings, fmt.Sprintf("there is no validation set to choose the penalty: using %v; set fit.ridge and fit.lambda", first))
	}
	if opt.Resume != nil {
		dr.state = opt.Resume
		if err := dr.checkState(); err != nil {
			return Report{}, fmt.Errorf("solver: not a valid checkpoint: %w", err)
		}
	} else if err := dr.startFirst(); err != nil {
		return Report{}, err
	}
	if err := dr.startFrom(opt.From); err != nil {
		return Report{}, err
	}
	return dr.solve(ctx)
}

// startFirst starts the first run, as the options say.
func (dr *driver) startFirst() error {
	if err := dr.drawStart(0); err != nil || dr.opt.Solver != "cavi" {
		return err
	}
	run, start := &dr.state.Run, dr.opt.Start
	run.Tempered, run.WideCurves = start.Tempered, start.WideCurves
	if start.PointSweeps > 0 {
		run.StartSweeps, run.StartScore, run.Reference = min(start.PointSweeps, referenceSweeps), noScore, noScore
	}
	return nil
}

// drawStart draws the start values of a new run. From the second attempt on they are others.
func (dr *driver) drawStart(attempt int) error {
	dr.d.setShape(nil)
	dr.d.noise[0] = 0
	clear(dr.d.parameters)
	dr.d.resetNoiseWeights()
	dr.d.resetSeries()
	for i, k := range dr.d.kernels {
		if err := k.set(dr.d.b, dr.startTheta[i]); err != nil {
			return err
		}
	}
	for _, at := range blockIDs(dr.d.field) {
		c, b := dr.d.posteriorBlock(at)
		if b.Posterior != nil {
			b.Posterior.SetVariance(0, c.Slices.Slice())
		}
		b.Along.Reset()
	}
	dr.d.field.Initialize(dr.d.b, func(k int) *rand.Rand {
		if attempt > 1 {
			return randstream.New(dr.opt.Seed, "attempt", uint64(k), uint64(attempt))
		}
		return randstream.New(dr.opt.Seed, "start", uint64(k))
	}, 1)
	dr.state.Run = Run{Rate: dr.opt.LearningRate, BestSweep: -1, BestScore: noScore}
	if len(dr.d.kernels)+len(dr.d.series) > 0 {
		dr.state.Run.Weights = dr.d.flatten(nil) // rounds the parameters of kernels
	}
	return nil
}

// searching reports whether penalties are still being compared.
func (dr *driver) searching() bool {
	if dr.opt.Ridge != nil {
		return false
	}
	_, more := dr.opt.PenaltySearch.Next(dr.state.Trials, dr.d.entityWeights)
	return more
}

// ridge returns the penalty of the current run.
func (dr *driver) ridge() Ridge {
	if dr.opt.Ridge != nil {
		return *dr.opt.Ridge
	}
	if r, more := dr.opt.PenaltySearch.Next(dr.state.Trials, dr.d.entityWeights); more {
		return r
	}
	return penalty.BestRidge(dr.state.Trials)
}

func (dr *driver) solve(ctx context.Context) (Report, error) {
	for !dr.state.Done {
		if weights := dr.state.Run.Weights; weights != nil { // otherwise the field has them
			if err := dr.restoreRun(&dr.state.Run, weights); err != nil {
				return Report{}, err
			}
			dr.state.Run.Weights = nil
		}
		dr.d.temper, dr.d.wideCurves = dr.state.Run.temper(), dr.state.Run.WideCurves
		dr.method.begin(&dr.state.Run, dr.ridge())
		stop, err := dr.attempt(ctx)
		var diverged *DivergedError
		if err != nil && !(dr.searching() && errors.As(err, &diverged)) {
			return Report{}, err
		}
		if stop == Budget || stop == Interrupted {
			if err := dr.save(); err != nil {
				return Report{}, err
			}
			return dr.finish(stop)
		}
		if dr.opt.Solver == "cavi" {
			again, err := dr.endAttempt(stop)
			if err != nil {
				return Report{}, err
			}
			if again {
				continue
			}
			if dr.state.Run.Attempt > 0 {
				stop = dr.state.Run.Stop
			}
		}
		if !dr.searching() {
			dr.state.Done, dr.state.Stop = true, stop
			if err := dr.save(); err != nil {
				return Report{}, err
			}
			return dr.finish(stop)
		}
		if err := dr.endTrial(); err != nil {
			return Report{}, err
		}
	}
	return dr.finish(dr.state.Stop)
}

// finish restores the best weights and returns the report.
func (dr *driver) finish(stop Stop) (report Report, err error) {
	if run := &dr.state.Run; (run.Attempt > 0 || run.Tempered) && !dr.state.Done && len(dr.state.Leader.Best) > 0 && dr.state.Leader.BestScore <= run.BestScore {
		err = errors.Join(dr.takeLeader(0, 0), dr.restoreRun(&dr.state.Run, dr.state.Run.Best)) // an attempt that was stopped did not reach the one before
	} else {
		err = dr.restoreBest()
	}
	if a, ok := dr.method.(*cavi); ok && err == nil {
		a.divideResult()
	}
	return dr.report(stop), err
}

// endTrial records a trial, then starts the next one or continues the best.
func (dr *driver) endTrial() error {
	run := dr.state.Run
	run.Weights = dr.d.flatten(nil)
	if len(dr.state.Trials) == 0 || run.BestScore < dr.state.Leader.BestScore {
		dr.state.Leader = run
	}
	dr.state.Trials = append(dr.state.Trials, Trial{Ridge: dr.ridge(), Score: run.BestScore})
	if dr.searching() {
		return dr.drawStart(0)
	}
	dr.state.Run, dr.state.Leader = dr.state.Leader, Run{}
	return nil
}

// sweepLimit returns the maximum number of sweeps of the current run.
func (dr *driver) sweepLimit() int {
	if dr.searching() {
		return min(dr.opt.Sweeps, trialSweeps)
	}
	if dr.continues() {
		return min(dr.opt.Sweeps, dr.opt.FromSweeps)
	}
	return dr.opt.Sweeps
}

// runSweeps runs sweeps until the current run ends.
func (dr *driver) runSweeps(ctx context.Context) (Stop, error) {
	run := &dr.state.Run
	limit := dr.sweepLimit()
	for ; run.Sweep < limit; run.Sweep, run.Block = run.Sweep+1, 0 {
		if run.BestSweep >= 0 && run.Sweep-run.BestSweep > dr.patience() {
			if removed, err := dr.pruneBest(); !removed || err != nil {
				return Converged, err
			}
		}
		dr.d.temper = run.temper()
		for ; run.Block < dr.blockCount(); run.Block++ {
			if stop := dr.stopReason(ctx); stop != "" {
				return stop, nil
			}
			if err := dr.saveIfDue(); err != nil {
				return "", err
			}
			if err := dr.update(run.Block); err != nil {
				return "", err
			}
			if err := dr.method.failure(); err != nil {
				return dr.endFailedRun(err)
			}
			dr.blocks++
			dr.notify(run.Block+1, nil)
		}
		if err := dr.endSweep(); err != nil {
			return Diverged, err
		}
		if dr.shouldPrune() {
			return Converged, nil
		}
		if run.Restarts > maxRestarts {
			return Diverged, nil
		}
	}
	return AllSweeps, nil
}

// leastScored is the number of validation rows from which they score the sweeps of a
// linear field, whose posterior by the evidence bound does not overfit: fewer rows would
// choose a sweep by chance.
const leastScored = 50

// scoredByBound reports whether the evidence bound scores the sweeps, although there may
// be validation rows.
func (dr *driver) scoredByBound() bool {
	return dr.opt.Solver == "cavi" && len(dr.d.validY) < leastScored && dr.d.field.Linear()
}

// validated reports whether the validation set scores the current sweeps.
func (dr *driver) validated() bool {
	return dr.d.validChunk != nil && dr.d.phase != variances && !dr.scoredByBound()
}

// endSweep scores the weights, keeps the best and recovers from divergence.
func (dr *driver) endSweep() error {
	run := &dr.state.Run
	n := float64(len(dr.d.y))
	loss := dr.method.loss()
	point := Point{Sweep: run.Sweep, Train: loss / n, Valid: dr.d.validLoss()}
	point.Score = point.Valid
	if dr.d.validChunk == nil {
		point.Valid = 0
	}
	if !dr.validated() {
		point.Score = dr.method.score(loss)
	}
	if bad := math.IsNaN(point.Score) || math.IsInf(point.Score, 0) || point.Score > 1e4 || math.IsNaN(point.Train) || math.IsInf(point.Train, 0); bad {
		return dr.recoverFromDivergence(point)
	}
	if dr.settles(run.Sweep) {
		run.BestScore = noScore
	}
	improved := point.Score < run.BestScore-leastImprovement*math.Abs(run.BestScore)
	boundImproved := dr.recordBound(&point, loss)
	run.Points = append(run.Points, point)
	kept := point.Score < run.BestScore || boundImproved
	if point.Score < run.BestScore && dr.scoresByFew() {
		run.BestMeans = append(run.BestMeans[:0:0], dr.d.validMean...)
	}
	if kept {
		run.BestScore = min(run.BestScore, point.Score)
		run.Best = dr.d.flatten(run.Best)
		if improved || boundImproved {
			run.BestSweep = run.Sweep
		}
	}
	dr.method.endSweep(improved)
	if kept && dr.prunes() && run.settled() {
		if err := dr.prune(point.Score); err != nil {
			return err
		}
	}
	dr.notify(dr.blockCount(), &point)
	return nil
}

// blockCount returns the number of blocks per sweep: the method's and the kernels'.
func (dr *driver) blockCount() int { return dr.method.blocks() + len(dr.d.kernels) }

func (dr *driver) blockName(i int) string {
	if i < dr.method.blocks() {
		return dr.method.blockName(i)
	}
	return "kernel/" + dr.d.kernels[i-dr.method.blocks()].Mode
}

// update improves block i.
func (dr *driver) update(i int) error {
	if i < dr.method.blocks() {
		dr.method.update(i)
		return nil
	}
	kept, err := dr.d.kernels[i-dr.method.blocks()].learn(dr.d, dr.ridge())
	if kept || dr.d.expectedLoss != nil {
		dr.method.begin(&dr.state.Run, dr.ridge()) // the slices changed, or the method's values did on the way
	}
	return err
}

// restoreBest restores the best weights of the current run or of the best trial. It
// keeps the current weights if a run that stopped within a sweep has better ones.
func (dr *driver) restoreBest() error {
	run := &dr.state.Run
	best, score := run.Best, run.BestScore
	if dr.searching() && len(dr.state.Leader.Best) > 0 && dr.state.Leader.BestScore < score {
		best, score = dr.state.Leader.Best, dr.state.Leader.BestScore
	}
	if !dr.state.Done && dr.validated() {
		if v := dr.d.validLoss(); v < score {
			return nil
		}
	}
	if len(best) > 0 {
		return dr.restoreRun(run, best)
	}
	return nil
}
