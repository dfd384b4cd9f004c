package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// solver is one way to lower the objective, a block at a time.
type solver interface {
	blocks() int
	blockName(i int) string
	begin(r *Run, ridge Ridge) // the weights were set from outside
	update(i int)
	loss() float64              // summed training loss
	score(loss float64) float64 // what is to be lowest without validation data, an observation
	failure() error             // why the last block's weights are not finite, nil if they are
	endSweep(improved bool)
	forget() // earlier weights were restored
}

// worst is the score of weights that have none yet.
const worst = math.MaxFloat64

type session struct {
	d       *data
	s       solver
	opt     Options
	state   *State
	started time.Time
	saved   time.Time
	blocks  int
	warn    []string
	theta   [][]float64 // where the kernels' parameters start
}

// Solve fits the problem's field. It returns the report together with an error
// only if the fit as a whole failed; an interrupted fit is none. Cancelling ctx
// stops it at the next block with the best weights so far.
func Solve(ctx context.Context, p *Problem, opt Options) (Report, error) {
	if err := opt.validate(); err != nil {
		return Report{}, err
	}
	d, err := newData(p)
	if err != nil {
		return Report{}, err
	}
	s := &session{d: d, opt: opt, state: &State{}}
	for _, k := range d.kernels {
		s.theta = append(s.theta, k.Operator.Theta())
	}
	switch opt.Solver {
	case "adam":
		if err := opt.validatePosterior(d); err != nil {
			return Report{}, err
		}
		s.s = newAdam(d, p.Train, opt)
		if d.varies() {
			s.opt.Ridge = &Ridge{Kind: Uniform}
			s.warn = append(s.warn, rowsByAdam(d)...)
		}
	case "als":
		s.s = newALS(d, p.Train, opt.CGSteps)
	case "cavi":
		if opt.Counts != nil {
			d.startCounts(*opt.Counts)
		}
		if opt.Noise != nil {
			d.startReweighing(opt.Noise)
		}
		s.s = newCAVI(d, p.Train, opt.CGSteps)
		s.opt.Ridge = &Ridge{Kind: Uniform} // priors take its place
	}
	if s.opt.now == nil {
		s.opt.now = time.Now
	}
	s.started = s.opt.now()
	s.saved = s.started
	if s.opt.Ridge == nil && d.validChunk == nil {
		first, _ := opt.Search.next(nil, d.counts)
		s.opt.Ridge = &first
		s.warn = append(s.warn, fmt.Sprintf("there is no validation part to choose the penalty on: took %v; set it by --ridge and --lambda", first))
	}
	if opt.Resume != nil {
		s.state = opt.Resume
		if n, want := len(s.state.Run.Weights), len(d.flatten(nil)); n != want {
			return Report{}, fmt.Errorf("fit: the checkpoint holds %d weights, the model has %d", n, want)
		}
	} else if err := s.fresh(); err != nil {
		return Report{}, err
	}
	return s.solve(ctx)
}

// fresh draws start values for a new run.
func (s *session) fresh() error {
	s.d.noise[0], s.d.size[0] = 0, 0
	for i, k := range s.d.kernels {
		if err := k.set(s.d.b, s.theta[i]); err != nil {
			return err
		}
	}
	s.d.field.Draw(s.d.b, func(k int) *rand.Rand { return stream.New(s.opt.Seed, "start", uint64(k)) }, 1)
	s.state.Run = Run{Rate: s.opt.Rate, BestSweep: -1, BestScore: worst, Weights: s.d.flatten(nil)}
	return nil
}

// searching tells whether penalties are still being compared.
func (s *session) searching() bool {
	if s.opt.Ridge != nil {
		return false
	}
	_, more := s.opt.Search.next(s.state.Trials, s.d.counts)
	return more
}

// ridge returns the penalty of the run in work.
func (s *session) ridge() Ridge {
	if s.opt.Ridge != nil {
		return *s.opt.Ridge
	}
	if r, more := s.opt.Search.next(s.state.Trials, s.d.counts); more {
		return r
	}
	return leader(s.state.Trials)
}

func (s *session) solve(ctx context.Context) (Report, error) {
	for !s.state.Done {
		if err := s.d.restore(s.state.Run.Weights); err != nil {
			return Report{}, err
		}
		s.s.begin(&s.state.Run, s.ridge())
		stop, err := s.descend(ctx)
		var diverged *DivergedError
		if err != nil && !(s.searching() && errors.As(err, &diverged)) {
			return Report{}, err
		}
		if stop == Budget || stop == Interrupted {
			if err := s.save(); err != nil {
				return Report{}, err
			}
			return s.finish(stop)
		}
		if !s.searching() {
			s.state.Done, s.state.Stop = true, stop
			if err := s.save(); err != nil {
				return Report{}, err
			}
			return s.finish(stop)
		}
		if err := s.endTrial(); err != nil {
			return Report{}, err
		}
	}
	return s.finish(s.state.Stop)
}

// finish leaves the best weights in the field and reports.
func (s *session) finish(stop Stop) (Report, error) {
	err := s.takeBest()
	return s.report(stop), err
}

// endTrial notes a trial and begins the next, or goes on with the best.
func (s *session) endTrial() error {
	run := s.state.Run
	run.Weights = s.d.flatten(nil)
	if len(s.state.Trials) == 0 || run.BestScore < s.state.Leader.BestScore {
		s.state.Leader = run
	}
	s.state.Trials = append(s.state.Trials, Trial{Ridge: s.ridge(), Score: run.BestScore})
	if s.searching() {
		return s.fresh()
	}
	s.state.Run, s.state.Leader = s.state.Leader, Run{}
	return nil
}

// limit returns how many sweeps the run in work may take.
func (s *session) limit() int {
	if s.searching() {
		return min(s.opt.Sweeps, trialSweeps)
	}
	return s.opt.Sweeps
}

// descend runs sweeps until the run in work ends.
func (s *session) descend(ctx context.Context) (Stop, error) {
	run := &s.state.Run
	limit := s.limit()
	for ; run.Sweep < limit; run.Sweep, run.Block = run.Sweep+1, 0 {
		if run.BestSweep >= 0 && run.Sweep-run.BestSweep > s.patience() {
			return Converged, nil
		}
		for ; run.Block < s.total(); run.Block++ {
			if stop := s.mustStop(ctx); stop != "" {
				return stop, nil
			}
			if err := s.keep(); err != nil {
				return "", err
			}
			if err := s.update(run.Block); err != nil {
				return "", err
			}
			if err := s.s.failure(); err != nil {
				return s.failed(err)
			}
			s.blocks++
			s.tell(run.Block+1, nil)
		}
		if err := s.endSweep(); err != nil {
			return Diverged, err
		}
		if s.hopeless() {
			return Converged, nil
		}
		if run.Restarts > maxRestarts {
			return Diverged, nil
		}
	}
	return AllSweeps, nil
}

// validated tells whether the sweeps in work are judged by validation data.
func (s *session) validated() bool { return s.d.validChunk != nil && s.d.phase != variances }

// endSweep scores the weights, keeps the best and mends divergence.
func (s *session) endSweep() error {
	run := &s.state.Run
	n := float64(len(s.d.y))
	loss := s.s.loss()
	point := Point{Sweep: run.Sweep, Train: loss / n, Valid: s.d.validLoss()}
	point.Score = point.Valid
	if s.d.validChunk == nil {
		point.Valid = 0
	}
	if !s.validated() {
		point.Score = s.s.score(loss)
	}
	if bad := math.IsNaN(point.Score) || math.IsInf(point.Score, 0) || point.Score > 1e4 || math.IsNaN(point.Train) || math.IsInf(point.Train, 0); bad {
		return s.mend(point)
	}
	improved := point.Score < run.BestScore-leastImprovement*math.Abs(run.BestScore)
	settling := s.settling(&point, loss)
	run.Points = append(run.Points, point)
	if point.Score < run.BestScore || settling {
		run.BestScore = min(run.BestScore, point.Score)
		run.Best = s.d.flatten(run.Best)
		if improved || settling {
			run.BestSweep = run.Sweep
		}
	}
	s.s.endSweep(improved)
	s.tell(s.total(), &point)
	return nil
}

// unit names a sweep for people.
func (s *session) unit() string {
	if s.opt.Solver == "adam" {
		return "epoch"
	}
	return "sweep"
}

// keep saves the state before a block, if the last time is long enough ago.
func (s *session) keep() error {
	if s.opt.Keeper == nil || s.opt.now().Sub(s.saved) < s.opt.KeeperEvery {
		return nil
	}
	return s.save()
}

func (s *session) save() error {
	if s.opt.Keeper == nil {
		return nil
	}
	s.state.Run.Weights = s.d.flatten(s.state.Run.Weights)
	if err := s.opt.Keeper.Save(s.state); err != nil {
		return fmt.Errorf("saving the checkpoint: %w", err)
	}
	s.saved = s.opt.now()
	return nil
}

func (s *session) tell(done int, p *Point) {
	if s.opt.Progress == nil {
		return
	}
	run := &s.state.Run
	name := ""
	if run.Block < s.total() {
		name = s.blockName(run.Block)
	}
	s.opt.Progress(Event{Trials: len(s.state.Trials), Searching: s.searching(), Sweep: run.Sweep, Sweeps: s.limit(), Block: done, Blocks: s.total(),
		BlockName: name, Point: p, Ridge: s.ridge(), Observations: len(s.d.y)})
}

// total returns the number of blocks of a sweep: the solver's, then the kernels'.
func (s *session) total() int { return s.s.blocks() + len(s.d.kernels) }

func (s *session) blockName(i int) string {
	if i < s.s.blocks() {
		return s.s.blockName(i)
	}
	return "kernel/" + s.d.kernels[i-s.s.blocks()].Mode
}

// update improves block i.
func (s *session) update(i int) error {
	if i < s.s.blocks() {
		s.s.update(i)
		return nil
	}
	kept, err := s.d.kernels[i-s.s.blocks()].learn(s.d, s.ridge())
	if kept || s.d.expected != nil {
		s.s.begin(&s.state.Run, s.ridge()) // the slices changed, or the solver's values did on the way
	}
	return err
}

// takeBest leaves the best weights in the field: of the run in work, of the
// leading trial, or, where a run was stopped inside a sweep, those at hand.
func (s *session) takeBest() error {
	run := &s.state.Run
	best, score := run.Best, run.BestScore
	if s.searching() && len(s.state.Leader.Best) > 0 && s.state.Leader.BestScore < score {
		best, score = s.state.Leader.Best, s.state.Leader.BestScore
	}
	if !s.state.Done && s.validated() {
		if v := s.d.validLoss(); v < score {
			return nil
		}
	}
	if len(best) > 0 {
		return s.d.restore(best)
	}
	return nil
}

func (s *session) report(stop Stop) Report {
	run := s.state.Run
	if run.Restarts > 0 {
		times := "once"
		if run.Restarts > 1 {
			times = fmt.Sprintf("%d times", run.Restarts)
		}
		how, remedy := "", "a larger --lambda"
		switch s.opt.Solver {
		case "adam":
			how, remedy = " at a smaller rate", "a smaller --rate or a larger --lambda"
		case "cavi":
			remedy = "a lower --rank"
		}
		s.warn = append(s.warn, fmt.Sprintf("training diverged %s and went on from its best weights%s; %s avoids that", times, how, remedy))
	}
	if s.d.phase == means {
		s.warn = append(s.warn, "the run ended before adam came to the variances: they are those it started with, and intervals mean nothing; give it more time, or use --solver cavi")
	}
	if n := s.falls(); n > 0 {
		s.warn = append(s.warn, fmt.Sprintf("the evidence bound fell in %d of %d sweeps, by more than rounding: the variances may be off", n, len(run.Points)))
	}
	if run.Raised > 0 {
		remedy := "a larger --lambda"
		if s.opt.Solver == "cavi" {
			remedy = "a lower --rank"
		}
		s.warn = append(s.warn, fmt.Sprintf("%d singular systems were made solvable by raising their diagonal; %s avoids them", run.Raised, remedy))
	}
	return Report{Stop: stop, Ridge: s.ridge(), Trials: slices.Clone(s.state.Trials), Points: run.Points, Best: run.BestSweep,
		Score: run.BestScore, Noise: float64(s.d.noise[0]), Size: float64(s.d.size[0]), Passes: s.d.passes, Blocks: s.blocks, Warnings: s.warn}
}
