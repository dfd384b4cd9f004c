package solver

import "math"

// This file holds the update of the offset, a block of one weight with a flat prior.
// Given the other weights its optimum is
//
//	mean = sum_n w_n (y_n - f_n) / sum_n w_n,   variance = s2 / sum_n w_n,
//
// where f_n is the field without the offset; the variance is that of a posterior and 0
// for a point estimate. It costs one pass over the residuals.

// offsetSums are the weighted sums of the residuals.
type offsetSums struct{ residual, weight float64 }

// addOffsetSums adds the residuals of all terms and the offset. It overwrites target.
func (a *residuals) addOffsetSums(s *offsetSums) {
	a.residualFor(noTerm)
	s.residual += a.sum(func(n int) float64 { return weightAt(a.d.w, n) * float64(a.target[n]) })
	if a.d.w == nil {
		s.weight += float64(len(a.d.y))
		return
	}
	s.weight += a.sum(func(n int) float64 { return float64(a.d.w[n]) })
}

// setOffset moves the offset to its optimum.
func (d *data) setOffset(s offsetSums) {
	mean := s.residual / s.weight
	if !(s.weight > 0) || math.IsNaN(mean) || math.IsInf(mean, 0) {
		return // the end of the sweep finds diverged weights
	}
	d.field.Offset.Mean += float32(mean)
	if d.hasPosterior() {
		d.field.Offset.Var = float32(float64(d.noise[0]) / s.weight)
	}
}

// updateOffset sets the offset from the current values of all terms.
func (a *residuals) updateOffset() {
	if !a.d.offset {
		return
	}
	var s offsetSums
	a.addOffsetSums(&s)
	a.d.setOffset(s)
}

// updateOffset sets the offset from all batches.
func (a *adam) updateOffset() {
	if !a.d.offset {
		return
	}
	var s offsetSums
	for i := range a.batches {
		a.evaluate(&a.batches[i])
		a.batches[i].addOffsetSums(&s)
	}
	a.d.setOffset(s)
	a.knownLoss = math.NaN()
}

// offsetEntropy is the entropy of the offset's posterior. With a flat prior it is the
// offset's part of the bound, up to a constant.
func (d *data) offsetEntropy() float64 {
	if d.field.Offset.Var == 0 {
		return 0
	}
	return (1 + math.Log(2*math.Pi*float64(d.field.Offset.Var))) / 2
}
