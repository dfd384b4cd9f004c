package solver

import "github.com/kernel-fried-tensor/kft/tt"

// startFrom starts a posterior with Gaussian noise from that of a field which has learned from fewer of the
// observations, with the parts that pruning left there. Without such a field the run stays as it is.
func (dr *driver) startFrom(from *tt.Field) error {
	a, ok := dr.method.(*cavi)
	d := dr.d
	if !ok || from == nil || d.sites != nil || len(d.kernels) > 0 || d.givenNoise > 0 || d.givenPrior > 0 {
		return nil
	}
	shape := d.shapeIn(from)
	if shape == nil || !sameShape(shape, d.offered.ranks) && dr.checkShape(shape) != nil {
		return nil
	}
	d.setShape(shape)
	a.from = d.field.StartFrom(d.b, from)
	switch {
	case dr.opt.Resume != nil:
		return nil // the run that was saved sets the field
	case !a.from:
		return dr.startFirst()
	}
	for _, s := range d.series {
		s.stale = true
	}
	a.points, d.noise[0] = false, 1
	a.evaluateAll()
	d.learnNoise(a.residuals.loss())
	run := Run{Rate: dr.opt.LearningRate, BestSweep: -1, BestScore: noScore}
	if !sameShape(shape, d.offered.ranks) {
		run.Shape = shape
	}
	if d.noiseWeights != nil {
		a.refreshNoiseWeights()
		run.Memory = [][]float32{d.w}
	}
	run.Weights = d.flatten(nil)
	dr.state.Run = run
	return nil
}

// shapeIn returns the ranks that the offered terms have in another field, nil for those which it does not have. It is nil if the
// other field has terms that were not offered.
func (d *data) shapeIn(other *tt.Field) [][]int {
	shape, next := make([][]int, len(d.offered.terms)), 0
	for k, t := range d.offered.terms {
		if next < len(other.Terms) && t.Name() == other.Terms[next].Name() && len(t.Cores) == len(other.Terms[next].Cores) {
			shape[k] = other.Terms[next].Ranks()
			next++
		}
	}
	if next < len(other.Terms) {
		return nil
	}
	return shape
}

// continues reports whether the run started from the posterior of fewer observations.
func (dr *driver) continues() bool {
	a, ok := dr.method.(*cavi)
	return ok && a.from
}
