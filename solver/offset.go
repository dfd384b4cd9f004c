package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend/observed"
)

// This file holds the update of the offset, a block of one weight with a flat prior.
// Given the other weights its optimum is
//
//	mean = sum_n w_n (y_n - f_n) / sum_n w_n,   variance = s2 / sum_n w_n,
//
// where f_n is the field without the offset; the variance is that of a posterior and 0
// for a point estimate. It costs one pass over the residuals.

// setOffset moves the offset to its optimum.
func (d *data) setOffset(s observed.Sums) {
	mean := s.Residual / s.Weight
	if !(s.Weight > 0) || math.IsNaN(mean) || math.IsInf(mean, 0) {
		return // the end of the sweep finds diverged weights
	}
	d.field.Offset.Mean += float32(mean)
	if d.hasPosterior() {
		d.field.Offset.Var = float32(float64(d.noise[0]) / s.Weight)
	}
}

// updateOffset sets the offset from the current values of all terms.
func (a *residuals) updateOffset() {
	if !a.d.offset {
		return
	}
	before := a.d.field.Offset.Mean
	sums := a.obs.Residuals(before)
	a.d.setOffset(sums)
	a.knownLoss = nil
	if a.d.field.Group == nil {
		loss := a.expectedLoss(sums.Shifted(float64(a.d.field.Offset.Mean) - float64(before)))
		a.knownLoss = &loss
	}
}

// updateOffset sets the offset from all batches.
func (a *adam) updateOffset() {
	if !a.d.offset {
		return
	}
	var s observed.Sums
	for i := range a.batches {
		a.evaluate(&a.batches[i])
		s = s.Plus(a.batches[i].obs.Residuals(a.d.field.Offset.Mean))
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
