package tt

import (
	"github.com/kernel-fried-tensor/kft/backend"
)

// A curve is a core whose slices are a regression T = A W alone, with independent weights: that of a numeric
// covariate, and of points. A system, of what the modes without operator share, has the weights of one curve.

// Curve reports whether the slices of the core are a regression alone with independent weights, each with the
// same prior variance.
func (c *Core) Curve() bool {
	return c.Variant == Side && c.Norm == nil && c.WeightPosterior != nil && c.WeightPosterior.Var != nil && c.WeightPosterior.PriorVar[0] > 0
}

// WithWeights returns a core whose slices are a regression alone with other weights and variances of them. rows is
// that of the core in the fit.
func (c *Core) WithWeights(b backend.Backend, weight, variance, rows []float32) *Core {
	d, posterior := *c, *c.WeightPosterior
	posterior.Var = variance
	d.Weight, d.WeightPosterior, d.Rows = weight, &posterior, rows
	d.Slices = c.slicesLike(c.Slices.N)
	d.side, d.sideVar = make([]float32, d.Slices.Len()), make([]float32, d.Slices.Len())
	d.Refresh(b, true)
	return &d
}
