package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A curve is a core whose slices are a regression T = A W alone, with independent weights: that of a numeric
// covariate, and of points. A system is what the codes of the modes without operator share: the weights of one curve.

// Curve reports whether the slices of the core are a regression alone with independent weights, each with the
// same prior variance.
func (c *Core) Curve() bool {
	return c.Variant == Side && c.Norm == nil && c.WeightPosterior != nil && c.WeightPosterior.Var != nil && c.WeightPosterior.PriorVar[0] > 0
}

// Columns returns the number of rows of W in a system.
func (m *LinearMap) Columns() int {
	n := 1
	for q := range m.stages {
		if s := &m.stages[q]; s.op != nil {
			n *= s.columns
		}
	}
	return n
}

// System returns the codes of a combination along the axes without operator.
func (m *LinearMap) System(combo []int32) []int32 {
	system := make([]int32, 0, len(combo))
	for q := range m.stages {
		if m.stages[q].op == nil {
			system = append(system, combo[q])
		}
	}
	return system
}

// SystemRows returns the rows of W of a system, in the order of Factors.
func (m *LinearMap) SystemRows(system []int32) []int {
	rows := []int{0}
	for q := range m.stages {
		s := &m.stages[q]
		var next []int
		for _, row := range rows {
			if s.op == nil {
				next = append(next, row*s.columns+int(system[0]))
				continue
			}
			for k := range s.columns {
				next = append(next, row*s.columns+k)
			}
		}
		if rows = next; s.op == nil {
			system = system[1:]
		}
	}
	return rows
}

// Factors returns the factors of the rows of W of its system in T at a combination of codes.
func (m *LinearMap) Factors(combo []int32) []float32 {
	factors := []float32{1}
	for q := range m.stages {
		s := &m.stages[q]
		if s.op == nil {
			continue
		}
		row := s.op.Matrix()[int(combo[q])*s.columns:][:s.columns]
		if len(factors) == 1 && factors[0] == 1 {
			factors = slices.Clone(row)
			continue
		}
		next := make([]float32, 0, len(factors)*len(row))
		for _, f := range factors {
			for _, v := range row {
				next = append(next, f*v)
			}
		}
		factors = next
	}
	return factors
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
