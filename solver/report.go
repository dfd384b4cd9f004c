package solver

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// Event reports the progress of a run. It is sent after each block, and with a
// Point after each sweep.
type Event struct {
	Trials        int    // penalties compared so far
	Searching     bool   // whether the current run is such a trial
	Sweep, Sweeps int    // current sweep, from 0, and the maximum
	Block, Blocks int    // finished blocks of the sweep, and their number
	BlockName     string // the block that was just finished
	Point         *Point // set at the end of a sweep
	Ridge         Ridge
	Observations  int
}

// Stop is the reason why a run ended.
type Stop string

const (
	Converged   Stop = "no improvement"
	AllSweeps   Stop = "all sweeps done"
	Budget      Stop = "time budget"
	Interrupted Stop = "interrupted"
	Diverged    Stop = "diverged"
)

// Report is the outcome of Solve. The field then holds the best weights.
type Report struct {
	Stop     Stop
	Ridge    Ridge
	Trials   []Trial
	Points   []Point
	Best     int // sweep of the best weights; -1 before the first sweep ended
	Start    Start
	Score    float64
	Noise    float64        // posteriors: the variance of an observation of weight 1
	Law      likelihood.Law // with the learned parameters; nil for Gaussian noise
	Passes   int
	Blocks   int
	Limit    int         // the maximum number of sweeps of the run
	Terms    []TermShape // of the specification
	Warnings []string

	// Planned are the training observations by term of the field; nil if the solver has no plans of them.
	Planned *observed.Planned
}

// A Start tells how the run of cavi began that gave the best weights. The zero value is a
// start from small random weights.
type Start struct {
	PointSweeps int  `json:"point_sweeps,omitempty"` // of als before the posterior
	Divided     bool `json:"divided,omitempty"`      // additive cores were divided after each update, see package division
	Tempered    bool `json:"tempered,omitempty"`     // the first sweeps took the noise as smaller than it was
	WideCurves  bool `json:"wide_curves,omitempty"`  // curves per id started with a wide prior
}

// A TermShape is a term that was offered, and what is left of it.
type TermShape struct {
	Name           string
	Offered, Ranks []int // of its bonds, before and after pruning
	Removed        bool
}

// sweepWord returns the word for a sweep in messages.
func (dr *driver) sweepWord() string {
	if dr.opt.Solver == "adam" {
		return "epoch"
	}
	return "sweep"
}

// notify sends the progress after done blocks of the sweep. p is set at its end.
func (dr *driver) notify(done int, p *Point) {
	if dr.opt.Progress == nil {
		return
	}
	run := &dr.state.Run
	name := ""
	if run.Block < dr.blockCount() {
		name = dr.blockName(run.Block)
	}
	dr.opt.Progress(Event{Trials: len(dr.state.Trials), Searching: dr.searching(), Sweep: run.Sweep, Sweeps: dr.sweepLimit(), Block: done, Blocks: dr.blockCount(),
		BlockName: name, Point: p, Ridge: dr.ridge(), Observations: len(dr.d.y)})
}

// report returns the outcome of the run.
func (dr *driver) report(stop Stop) Report {
	run := dr.state.Run
	warnings := append(dr.warnings, dr.runWarnings()...)
	var law likelihood.Law
	if dr.d.sites != nil {
		law = dr.d.law()
	}
	r := Report{Stop: stop, Limit: dr.sweepLimit(), Ridge: dr.ridge(), Trials: slices.Clone(dr.state.Trials), Points: run.Points, Best: run.BestSweep, Start: Start{PointSweeps: run.StartSweeps, Tempered: run.Tempered, WideCurves: run.WideCurves, Divided: dr.divided()}, Law: law,
		Score: run.BestScore, Noise: float64(dr.d.noise[0]), Passes: dr.d.passes, Blocks: dr.blocks, Terms: dr.d.termShapes(), Warnings: warnings}
	if a, ok := dr.method.(*cavi); ok && dr.d.field.Group == nil {
		r.Planned = a.obs.Planned()
	}
	return r
}

// runWarnings returns the warnings about the course of the run.
func (dr *driver) runWarnings() []string {
	run := dr.state.Run
	var warnings []string
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	remedy := "increase fit.lambda"
	if dr.opt.Solver == "cavi" {
		remedy = "use lower ranks in terms"
	}
	if run.Restarts > 0 {
		times := "once"
		if run.Restarts > 1 {
			times = fmt.Sprintf("%d times", run.Restarts)
		}
		if dr.opt.Solver == "adam" {
			warn("training diverged %s and continued from its best weights at a lower learning rate; decrease fit.learning-rate or increase fit.lambda to avoid this", times)
		} else {
			warn("training diverged %s and continued from its best weights; %s to avoid this", times, remedy)
		}
	}
	if dr.d.phase == means {
		warn("the run ended before adam updated the variances: they have their start values, and intervals are not valid; allow more time or set fit.solver to cavi")
	}
	if dr.boundDecreased() {
		warn("the evidence bound decreased in the last sweeps, so the variances may be inaccurate; use lower ranks in terms")
	}
	if run.Raised > 0 {
		warn("the diagonals of %d singular systems were raised to solve them; %s to avoid this", run.Raised, remedy)
	}
	return append(warnings, dr.attemptWarnings()...)
}
