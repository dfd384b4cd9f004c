package solver

import (
	"fmt"
	"slices"
)

// checkState returns an error unless a saved state belongs to this problem and can be
// continued: a checkpoint with a right checksum need not be one that Solve saved. The
// field gets the shape of the current run.
func (dr *driver) checkState() error {
	for _, r := range []*Run{&dr.state.Leader, &dr.state.Run} {
		if err := dr.checkShape(r.Shape); err != nil {
			return err
		}
		dr.d.setShape(r.Shape)
		n, best, want := len(r.Weights), len(r.Best), len(dr.d.flatten(nil))
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

// checkShape returns an error unless pruning can lead to a shape.
func (dr *driver) checkShape(shape [][]int) error {
	if shape == nil {
		return nil
	}
	offered := dr.d.offered
	good := dr.opt.Prune && dr.opt.Solver == "cavi" && dr.d.field.Group == nil && len(dr.d.kernels) == 0 &&
		len(shape) == len(offered.ranks) && slices.ContainsFunc(shape, func(ranks []int) bool { return ranks != nil })
	for k := 0; good && k < len(shape); k++ {
		ranks, most := shape[k], offered.ranks[k]
		if ranks == nil || slices.Equal(ranks, most) {
			continue
		}
		good = len(ranks) == len(most) && offered.terms[k].Resizable()
		for i := 0; good && i < len(ranks); i++ {
			good = ranks[i] >= 1 && ranks[i] <= most[i]
		}
	}
	if !good {
		return fmt.Errorf("its terms have the ranks %v, which pruning of %v does not give", shape, offered.ranks)
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
		return a.memorySizes()
	case *cavi:
		if dr.d.sites != nil {
			return []int{n, n}
		} else if dr.d.noiseWeights != nil {
			return []int{n}
		}
	}
	return nil
}
