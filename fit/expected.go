package fit

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// expected fills residual and diagonal where the cores vary: one pass gives
// g - H G and D, the diagonal of H, which is exact here.
func (s *conjugate) expected(p *blockProblem, cores []backend.Slices) {
	if len(s.slices.Var) != s.slices.Len() {
		s.slices.Var = make([]float32, s.slices.Len())
	}
	grad := s.only(p)
	grad[p.core].Var = s.slices.Var
	s.extraFull = nil
	if c := p.block.MultiplierCov; c != nil {
		s.extraFull = make([]float32, len(c))
		grad[p.core].Cov = s.extraFull
	}
	p.d.pass(p.plan, cores, &backend.Job{Adjoint: backend.Residual, Second: true, Target: p.y, Weight: p.w, Grad: grad})
	curvature := s.slices.Var
	for i, v := range curvature {
		curvature[i] = -2 * v // the adjoint of the variance is -w/2
	}
	p.block.Adjoint(p.d.b, s.residual, s.slices.Mean, false)
	for i, c := range p.block.MultiplierCov {
		s.extraFull[i] *= -2 * c
	}
	s.extra = nil
	if v := p.block.MultiplierVar; v != nil {
		s.extra, s.along = make([]float32, len(v)), make([]float32, len(v))
		for i, d := range curvature {
			s.extra[i] = d * v[i]
		}
		s.addExtra(p, s.residual, p.block.Value, -1)
	}
	copy(s.slices.Mean, curvature)
	p.block.Adjoint(p.d.b, s.diagonal, s.slices.Mean, true)
}

// addExtra adds sign A'(D o v o A x) to dst, the part of the normal equations
// that a multiplier's variance v makes.
func (s *conjugate) addExtra(p *blockProblem, dst, x []float32, sign float32) {
	if s.extra == nil {
		return
	}
	if p.block.Map == nil {
		for i, d := range s.extra {
			dst[i] += sign * d * x[i]
		}
		return
	}
	p.block.Map.Apply(p.d.b, s.along, x, false)
	if s.extraFull != nil {
		multiplyRows(p.d.b, s.along, s.extraFull, p.train.Cores[p.core].Slices.Slice())
	} else {
		for i, d := range s.extra {
			s.along[i] *= d
		}
	}
	part := make([]float32, len(dst))
	p.block.Map.Adjoint(p.d.b, part, s.along, false)
	for i, v := range part {
		dst[i] += sign * v
	}
}

// multiplyRows multiplies each row x of r entries by its r x r matrix.
func multiplyRows(b backend.Backend, rows, matrices []float32, r int) {
	backend.Each(b, len(rows)/r, func(e int) {
		row, product := rows[e*r:][:r], make([]float32, r)
		for i := range product {
			for j, x := range row {
				product[i] += matrices[(e*r+i)*r+j] * x
			}
		}
		copy(row, product)
	})
}

// setVariances sets the block's variances to their optimum, which does not
// depend on the means: s2/(diagonal + lambda) for independent weights. The
// diagonal holds lambda already.
func (s *conjugate) setVariances(p *blockProblem) {
	if !p.varies() {
		return
	}
	if sigmas := p.block.Spread.Sigma; sigmas != nil {
		// Adjoint left the curvature of T in the slices.
		for q := range sigmas {
			if err := p.block.Map.Solve(p.d.b, sigmas, q, s.slices.Mean, p.penalty.at(0, 0), p.noise); err != nil {
				p.failed = fmt.Errorf("%s: %w", p.block.Name, err)
			}
		}
		return
	}
	for k, d := range s.diagonal {
		if s.lambda[k] > 0 {
			p.block.Spread.Var[k] = float32(p.noise) / d
		}
	}
}
