package solver

import (
	"errors"
	"fmt"
	"math"
)

// checkState returns an error unless a saved state belongs to this problem and can be
// continued: a checkpoint with a right checksum need not be one that Solve saved.
func (dr *driver) checkState() error {
	want := len(dr.d.flatten(nil))
	for _, r := range []*Run{&dr.state.Run, &dr.state.Leader} {
		leader := r == &dr.state.Leader
		if n := len(r.Weights); n != want && !(leader && n == 0) {
			return fmt.Errorf("it holds %d weights, but the model has %d; resume with the specification of the checkpoint", n, want)
		}
		if n := len(r.Best); n != want && n != 0 {
			return fmt.Errorf("it holds %d best weights, but the model has %d", n, want)
		}
		if len(r.Weights) > 0 && r.BestSweep >= 0 && len(r.Best) == 0 {
			return fmt.Errorf("it holds no weights of its best sweep, %d", r.BestSweep)
		}
		if r.Block < 0 || r.Block > dr.blockCount() || r.Sweep < 0 || r.Sweep > dr.opt.Sweeps || r.BestSweep < -1 || r.BestSweep > r.Sweep {
			return fmt.Errorf("it stands before block %d of sweep %d, the best being %d; the run has %d blocks in up to %d sweeps", r.Block, r.Sweep, r.BestSweep, dr.blockCount(), dr.opt.Sweeps)
		}
		if r.Attempt < 0 || r.Attempt > maxAttempts || r.StartSweep < 0 || r.StartSweeps < 0 || r.StartSweeps > referenceSweeps || r.Step < 0 || !(math.Abs(r.Rate) <= math.MaxFloat32) {
			return fmt.Errorf("it has the attempt %d with %d of %d start sweeps, step %d and rate %g", r.Attempt, r.StartSweep, r.StartSweeps, r.Step, r.Rate)
		}
		if err := dr.checkMemory(r); err != nil {
			return err
		}
	}
	if dr.state.Done && len(dr.state.Run.Best) == 0 && len(dr.state.Run.Points) > 0 {
		return errors.New("it is done and holds no best weights")
	}
	return nil
}

// memorySizes returns the sizes of the moments that a run of adam keeps.
func (a *adam) memorySizes(r *Run) []int {
	before := a.d.phase
	defer func() { a.d.phase = before }()
	if a.d.hasPosterior() {
		a.d.phase = a.phaseOf(r)
	}
	n := a.momentCount()
	return []int{n, n}
}

// checkMemory returns an error unless the arrays that a method keeps have their sizes.
func (dr *driver) checkMemory(r *Run) error {
	if len(r.Memory) == 0 {
		return nil
	}
	n := len(dr.d.y)
	var sizes []int
	switch a := dr.method.(type) {
	case *adam:
		sizes = a.memorySizes(r)
	case *cavi:
		if dr.d.countSites != nil {
			sizes = []int{n, n}
		} else if dr.d.noiseWeights != nil {
			sizes = []int{n}
		}
	}
	good := len(r.Memory) == len(sizes)
	for i := range sizes {
		good = good && len(r.Memory[i]) == sizes[i]
	}
	if !good {
		return fmt.Errorf("it has %d arrays that do not fit the solver %s", len(r.Memory), dr.opt.Solver)
	}
	return nil
}
