package fit

import (
	"errors"
	"fmt"
	"time"
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
