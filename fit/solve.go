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

// Options say how to fit.
type Options struct {
	Solver   string // "als" or "adam" for points, "cavi" or "adam" for posteriors
	Ridge    *Ridge // the penalty; nil to search for one on validation data
	Search   Search
	Sweeps   int     // at most; an epoch of adam is a sweep
	Patience int     // sweeps without improvement before a run stops
	CGSteps  int     // als: conjugate gradient steps a block
	Rate     float64 // adam: the first step size
	Batch    float64 // adam: share of the data in a minibatch
	Schedule Schedule
	Seed     uint64
	Counts   *Counts    // cavi: targets are counts; nil means Gaussian noise
	Noise    NoiseModel // cavi: observations count by the inverse of their noise; nil means all alike

	TimeBudget time.Duration // 0 means none; the run stops at the next block

	Resume      *State        // a state that Keeper saved, to go on from
	Keeper      Keeper        // nil keeps nothing
	KeeperEvery time.Duration // least time between two saves
	Progress    func(Event)   // nil says nothing
	now         func() time.Time
}

// Event tells how far a run is. It is sent after each block, and after each
// sweep with a Point.
type Event struct {
	Trials        int    // penalties compared so far
	Searching     bool   // the run in work is such a trial
	Sweep, Sweeps int    // sweep in work, from 0
	Block, Blocks int    // blocks of the sweep that are done
	BlockName     string // the block just done
	Point         *Point // at the end of a sweep
	Ridge         Ridge
	Observations  int
}

// Stop says why a run ended.
type Stop string

const (
	Converged   Stop = "no improvement"
	AllSweeps   Stop = "all sweeps done"
	Budget      Stop = "time budget"
	Interrupted Stop = "interrupted"
	Diverged    Stop = "diverged"
)

// Report is the outcome of a fit. The field then holds the best weights.
type Report struct {
	Stop     Stop
	Ridge    Ridge
	Trials   []Trial
	Points   []Point
	Best     int // sweep of the best weights, -1 before the first ended
	Score    float64
	Noise    float64 // where weights vary: the variance of an observation of weight 1
	Size     float64 // of a negative binomial
	Passes   int
	Blocks   int
	Warnings []string
}

// DivergedError says that no finite weights were found.
type DivergedError struct {
	Block string
	Sweep int
	Unit  string // what Sweep counts: sweep or epoch
	Cause string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("fit: diverged in %s %d at %s: %s", e.Unit, e.Sweep+1, e.Block, e.Cause)
}

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

// Improvement below this share of the score does not count.
const leastImprovement = 3e-4

// trialSweeps is how long penalties are compared. A trial that from sweep
// pruneFrom on is behind the best one at the same sweep by more than a factor
// of pruneAt ends there.
const (
	trialSweeps = 5
	pruneFrom   = 2
	pruneAt     = 1.1
)

// worst is the score of weights that have none yet.
const worst = math.MaxFloat64

// maxRestarts is how often a diverging run goes back to its best weights.
const maxRestarts = 4

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

func (o *Options) validate() error {
	switch {
	case o.Solver != "als" && o.Solver != "adam" && o.Solver != "cavi":
		return fmt.Errorf("fit: unknown solver %q; use als, adam or cavi", o.Solver)
	case o.Ridge == nil && o.Solver != "cavi" && len(o.Search.Kinds) == 0:
		return errors.New("fit: no penalty given and none to search for")
	case o.Sweeps < 1 || o.Patience < 1:
		return fmt.Errorf("fit: sweeps (%d) and patience (%d) must be 1 or more", o.Sweeps, o.Patience)
	case o.Solver != "adam" && o.CGSteps < 1:
		return fmt.Errorf("fit: cgsteps (%d) must be 1 or more", o.CGSteps)
	case o.Solver == "adam" && !(o.Rate > 0 && o.Batch > 0 && o.Batch <= 1):
		return fmt.Errorf("fit: adam needs a rate above 0 (%g) and a batch share in (0, 1] (%g)", o.Rate, o.Batch)
	case o.Solver == "adam" && o.Schedule != Blocks && o.Schedule != Joint:
		return fmt.Errorf("fit: unknown schedule %q; use block or joint", o.Schedule)
	}
	if o.Ridge != nil {
		return o.Ridge.validate()
	}
	return nil
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

// failed ends a run whose weights are no longer finite, with the best of those
// before, or an error where there are none.
func (s *session) failed(cause error) (Stop, error) {
	run := &s.state.Run
	err := &DivergedError{Block: s.blockName(run.Block), Sweep: run.Sweep, Unit: s.unit(), Cause: cause.Error()}
	if len(run.Best) == 0 {
		return Diverged, err
	}
	s.warn = append(s.warn, err.Error()+"; the weights of the best sweep before are kept")
	return Diverged, s.d.restore(run.Best)
}

// hopeless tells whether the trial in work is far behind the best one.
func (s *session) hopeless() bool {
	run := &s.state.Run
	if run.Sweep < pruneFrom || len(run.Points) == 0 || !s.searching() {
		return false
	}
	now := run.Points[len(run.Points)-1]
	for _, best := range s.state.Leader.Points {
		if best.Sweep == now.Sweep {
			return now.Score > pruneAt*best.Score
		}
	}
	return false
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

// Means are found before variances are: validation data may see no gain from a
// sweep that took noise and variances nearer to where they belong. A posterior
// whose score is this near to the best, and whose bound rose by at least so much an
// observation, is taken as a gain.
const (
	settledWithin = 5e-3
	leastRise     = 1e-4
)

// settling notes the evidence bound of a posterior, and tells whether it gained by
// it without loss on validation data.
func (s *session) settling(p *Point, loss float64) bool {
	if s.opt.Solver != "cavi" {
		return false
	}
	p.Bound = s.d.elbo(loss) / float64(len(s.d.y))
	points := s.state.Run.Points
	if len(points) == 0 || !s.validated() {
		return false
	}
	rise := p.Bound - points[len(points)-1].Bound
	best := s.state.Run.BestScore
	return rise > leastRise && p.Score <= best+settledWithin*math.Abs(best)
}

// boundSlack is the share of the bound that rounding may cost it.
const boundSlack = 1e-5

// A posterior whose bound still rises by as much as fastRise an observation and
// sweep is given patient times the patience: from an unlucky start validation data
// may see loss for a while before they see gain.
const (
	fastRise = 1e-3
	patient  = 4
)

// patience returns how many sweeps without gain end the run.
func (s *session) patience() int {
	n := len(s.state.Run.Points)
	if s.d.tally != nil && n < 2*boundSweeps {
		return 2 * boundSweeps // the first sites come slowly to large counts
	}
	if s.opt.Solver == "cavi" && n > 1 && s.state.Run.Points[n-1].Bound-s.state.Run.Points[n-2].Bound > fastRise {
		return patient * s.opt.Patience
	}
	return s.opt.Patience
}

// falls returns the number of sweeps in which the bound of a Gaussian posterior
// fell, which it must not.
func (s *session) falls() int {
	if s.opt.Solver != "cavi" || s.d.tally != nil || s.d.reweigh != nil {
		return 0 // sites and weights change the bound itself
	}
	n := 0
	for i, p := range s.state.Run.Points {
		if i > 0 && p.Bound < s.state.Run.Points[i-1].Bound-boundSlack*math.Abs(p.Bound) {
			n++
		}
	}
	return n
}

// mend returns to the best weights, or to a new and smaller start, with a
// smaller rate.
func (s *session) mend(p Point) error {
	run := &s.state.Run
	run.Restarts++
	if run.Restarts > maxRestarts && run.BestSweep < 0 {
		return &DivergedError{Block: s.s.blockName(s.s.blocks() - 1), Sweep: run.Sweep, Unit: s.unit(), Cause: s.cause(p)}
	}
	run.Rate /= 4
	if run.BestSweep >= 0 {
		if err := s.d.restore(run.Best); err != nil {
			return err
		}
	} else {
		s.d.field.Draw(s.d.b, func(k int) *rand.Rand {
			return stream.New(s.opt.Seed, "restart", uint64(k), uint64(run.Restarts))
		}, math.Pow(0.1, float64(run.Restarts)))
	}
	s.s.forget()
	s.s.begin(run, s.ridge())
	return nil
}

// cause says how a run diverged and what may help.
func (s *session) cause(p Point) string {
	text := "the error is no finite number"
	if score := max(p.Score, p.Train); score < math.Inf(1) { // false for NaN too
		text = fmt.Sprintf("the error grew to %.2g times the target's variance", score)
	}
	if s.opt.Solver != "adam" {
		if s.opt.Solver == "cavi" {
			return text + "; give lower ranks"
		}
		return text + "; give a larger --lambda, or lower ranks"
	}
	return fmt.Sprintf("%s, also at a rate of %.2g; give a smaller --rate, a larger --lambda, or lower ranks", text, s.state.Run.Rate)
}

// unit names a sweep for people.
func (s *session) unit() string {
	if s.opt.Solver == "adam" {
		return "epoch"
	}
	return "sweep"
}

func (s *session) mustStop(ctx context.Context) Stop {
	if ctx.Err() != nil {
		return Interrupted
	}
	if s.opt.TimeBudget > 0 && s.opt.now().Sub(s.started) >= s.opt.TimeBudget {
		return Budget
	}
	return ""
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
