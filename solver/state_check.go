package solver

import "fmt"

// checkState returns an error unless a saved state belongs to this problem and can be
// continued: a checkpoint with a right checksum need not be one that Solve saved.
func (dr *driver) checkState() error {
	want := len(dr.d.flatten(nil))
	for _, r := range []*Run{&dr.state.Run, &dr.state.Leader} {
		n, best := len(r.Weights), len(r.Best)
		switch {
		case n == 0 && best == 0 && r == &dr.state.Leader: // there is none
		case n != want || best != want && best != 0:
			return fmt.Errorf("it holds %d weights and %d best weights, but the model has %d; resume with the specification of the checkpoint", n, best, want)
		case r.BestSweep >= 0 && best == 0 || r.Block > dr.blockCount() || r.StartSweeps > referenceSweeps:
			return fmt.Errorf("it stands before block %d of %d and has %d start sweeps, and its best sweep %d has %d weights", r.Block, dr.blockCount(), r.StartSweeps, r.BestSweep, best)
		}
		sizes := dr.memorySizes(r)
		for i, values := range r.Memory {
			if len(r.Memory) != len(sizes) || len(values) != sizes[i] {
				return fmt.Errorf("it has %d arrays that do not fit the solver %s", len(r.Memory), dr.opt.Solver)
			}
		}
	}
	return nil
}

// memorySizes returns the sizes of the arrays that the method keeps in a run.
func (dr *driver) memorySizes(r *Run) []int {
	n := len(dr.d.y)
	switch a := dr.method.(type) {
	case *adam:
		if a.d.hasPosterior() {
			a.d.phase = a.phaseOf(r) // begin sets it again
		}
		return []int{a.momentCount(), a.momentCount()}
	case *cavi:
		if dr.d.countSites != nil {
			return []int{n, n}
		} else if dr.d.noiseWeights != nil {
			return []int{n}
		}
	}
	return nil
}
