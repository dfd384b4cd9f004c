package solver

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// expectedEquations sets residual and diagonal for a block with a posterior. One
// pass gives g - H G and D, the diagonal of H, which is exact here.
func (s *conjugateGradient) expectedEquations(p *blockProblem, cores []backend.Slices) {
	if len(s.slices.Var) != s.slices.Len() {
		s.slices.Var = make([]float32, s.slices.Len())
	}
	grad := s.meanGradient(p)
	grad[p.core].Var = s.slices.Var
	s.extraFull = nil
	if c := p.block.MultiplierCov; c != nil {
		s.extraFull = make([]float32, len(c))
		grad[p.core].Cov = s.extraFull
	}
	p.d.pass(p.plan, cores, &backend.Job{Adjoint: backend.Residual, GradientsOnly: true, SecondMoments: true, Target: p.target, Weight: p.weight, Grad: grad})
	curvature := s.slices.Var
	threads := p.d.b.Threads()
	parallel.Blocks(threads, len(curvature), func(from, to int) {
		for i := from; i < to; i++ {
			curvature[i] *= -2 // the adjoint of the variance is -w/2
		}
	})
	parallel.Blocks(threads, len(s.extraFull), func(from, to int) {
		for i := from; i < to; i++ {
			s.extraFull[i] *= -2 * p.block.MultiplierCov[i]
		}
	})
	s.extra = s.extra[:0]
	if v := p.block.MultiplierVar; v != nil {
		s.extra, s.along = slices.Grow(s.extra, len(v))[:len(v)], slices.Grow(s.along[:0], len(v))[:len(v)]
		parallel.Blocks(threads, len(v), func(from, to int) {
			for i := from; i < to; i++ {
				s.extra[i] = curvature[i] * v[i]
			}
		})
		if p.block.Map != nil {
			p.block.Map.Apply(p.d.b, s.along, p.block.Value, false)
		}
	}
	s.adjoint(p, s.residual, p.block.Value, -1)
	parallel.Blocks(threads, len(curvature), func(from, to int) { copy(s.slices.Mean[from:to], curvature[from:to]) })
	p.block.Adjoint(p.d.b, s.diagonal, s.slices.Mean, true)
}

// adjoint writes J'g + sign A'(D o v o A x) to dst, for g in s.slices, which it overwrites. The second part is the
// contribution of a multiplier's variance v to the normal equations. A x of a regression is in s.along.
func (s *conjugateGradient) adjoint(p *blockProblem, dst, x []float32, sign float32) {
	b, g, threads := p.d.b, s.slices.Mean, p.d.b.Threads()
	switch {
	case len(s.extra) == 0:
		p.block.Adjoint(b, dst, g, false)
	case p.block.Map == nil:
		p.block.Adjoint(b, dst, g, false)
		parallel.Blocks(threads, len(s.extra), func(from, to int) {
			for i := from; i < to; i++ {
				dst[i] += sign * s.extra[i] * x[i]
			}
		})
	default:
		if s.extraFull != nil {
			multiplyByMatrices(b, s.along, s.extraFull, p.train.Cores[p.core].Slices.Slice())
		}
		parallel.Blocks(threads, len(g), func(from, to int) {
			for i := from; i < to; i++ {
				extra := s.along[i]
				if s.extraFull == nil {
					extra *= s.extra[i]
				}
				g[i] = g[i]*p.block.Multiplier[i] + sign*extra
			}
		})
		p.block.Map.Adjoint(b, dst, g, false)
	}
}

// multiplyByMatrices multiplies each row of r entries by its own r x r matrix.
func multiplyByMatrices(b backend.Backend, rows, matrices []float32, r int) {
	backend.ParallelFor(b, len(rows)/r, func(e int) {
		row, product := rows[e*r:][:r], make([]float32, r)
		for i := range product {
			for j, x := range row {
				product[i] += matrices[(e*r+i)*r+j] * x
			}
		}
		copy(row, product)
	})
}

// setVariances sets the variances of the block to their optimum, which does not
// depend on the means: s2/(diagonal + lambda) for independent weights. s.diagonal
// includes lambda already.
func (s *conjugateGradient) setVariances(p *blockProblem) {
	if !p.hasPosterior() {
		return
	}
	if sigmas := p.block.Posterior.Sigma; sigmas != nil {
		// Adjoint left the curvature of T in the slices.
		for q := range sigmas {
			if err := p.block.Map.SolveSigma(p.d.b, sigmas, q, s.slices.Mean, p.penalty.At(0, 0), p.noise); err != nil {
				p.failed = fmt.Errorf("%s: %w", p.block.Name, err)
			}
		}
		return
	}
	backend.ParallelFor(p.d.b, len(s.diagonal), func(k int) {
		if s.lambda[k] > 0 {
			p.block.Posterior.Var[k] = float32(p.noise) / s.diagonal[k]
		}
	})
}

// solveExpectedSlices solves a free outer core exactly. For each entity,
//
//	(M H M + diag(D o v) + lambda) x = M (g - H G0) + lambda mu,
//
// where H holds the second moments of the product of the other cores at the
// entity's cells, D is its diagonal, M and v are the mean and variance of the
// multiplier, and mu and lambda are the penalty. The covariance is s2 times the
// inverse of the matrix, or of its diagonal. For a point estimate v is 0, and entities
// without observations keep their weights. It returns the number of singular systems.
func solveExpectedSlices(p *blockProblem) int64 {
	c := p.train.Cores[p.core]
	r, shape := c.Slices.Slice(), c.Slices.Shape
	g := p.sliceEquations()
	runs := backend.EntityRuns(p.d.b, p.plan, p.core)
	var raised atomic.Int64
	threads, entities := p.d.b.Threads(), max(0, min(runs.End, shape.N-1)-runs.First)
	pieces := min(entities, 4*threads) // those with many rows may be neighbours
	parallel.For(threads, pieces, func(i int) {
		memory := make([]float64, 2*r*(r+1))
		for e := runs.First + entities*i/pieces; e < runs.First+entities*(i+1)/pieces; e++ {
			if (p.entityWeights == nil || p.entityWeights[e] > 0) && solveExpectedSlice(p, e, r, g, memory) {
				raised.Add(1)
			}
		}
	})
	runs.Share(p.block.Value, r)
	if p.hasPosterior() {
		runs.Share(p.block.Posterior.Var, r)
		if p.block.Posterior.Cov != nil {
			runs.Share(p.block.Posterior.Cov, r*r)
		}
	}
	return runs.Sum(raised.Load())
}

// sliceEquations returns the equations of the slices of an outer core: g - H G in Mean, and
// -H/2 in Cov, for the entities of this rank.
func (p *blockProblem) sliceEquations() backend.Slices {
	c := p.train.Cores[p.core].Slices
	r := c.Slice()
	g := backend.Slices{Shape: c.Shape, Mean: p.d.scratch(0, c.Len()), Cov: p.d.scratch(1, c.N*r*r)}
	if p.sums != nil {
		p.d.passes++
		p.sums(func(e int, n, sum float64) { g.Mean[e], g.Cov[e] = float32(sum-n*float64(c.Mean[e])), float32(-n/2) })
		return g
	}
	grad, cores := make([]backend.Slices, len(p.train.Cores)), p.train.Slices()
	grad[p.core] = g
	if !p.hasPosterior() {
		for q := range cores {
			cores[q].Var, cores[q].Cov = nil, nil
		}
	}
	p.d.pass(p.plan, cores, &backend.Job{Adjoint: backend.Residual, GradientsOnly: true, SecondMoments: true, OwnEntities: true, Target: p.target, Weight: p.weight, Grad: grad})
	return g
}

// solveExpectedEffect is solveExpectedSlice for a slice of one number, such as an effect has, whose equation is
// not singular. It reports whether it is not.
func solveExpectedEffect(p *blockProblem, e int, g backend.Slices) bool {
	lambda, posterior, x := p.penalty.At(e, 0), p.block.Posterior, float64(p.block.Value[e])
	h := lambda - 2*float64(g.Cov[e])
	if !(h > 0 && h <= math.MaxFloat64) {
		return false
	}
	p.block.Value[e] += float32((float64(g.Mean[e]) - lambda*(x-p.penalty.Center(0))) / h)
	posterior.Var[e] = float32(p.noise / h)
	if posterior.Cov != nil {
		posterior.Cov[e] = posterior.Var[e]
	}
	return true
}

func solveExpectedSlice(p *blockProblem, e, r int, g backend.Slices, memory []float64) (raised bool) {
	if r == 1 && p.hasPosterior() && p.block.Multiplier == nil && solveExpectedEffect(p, e, g) {
		return false
	}
	at := func(values []float32) []float32 { return values[e*r:][:r] }
	h, scratch, lambda, step := memory[:r*r], memory[r*r:][:r*r], memory[2*r*r:][:r], memory[2*r*r+r:][:r]
	for k, v := range g.Cov[e*r*r:][:r*r] {
		h[k] = -2 * float64(v) // the adjoint of the variance is -w/2
	}
	x := at(p.block.Value)
	for i := range r {
		lambda[i] = p.penalty.At(e, i)
		step[i] = float64(at(g.Mean)[i])
	}
	if p.block.Multiplier != nil {
		m := at(p.block.Multiplier)
		for i := range r {
			if p.hasPosterior() {
				lambda[i] += h[i*r+i] * float64(at(p.block.MultiplierVar)[i])
			}
			step[i] *= float64(m[i])
		}
		for i := range r {
			for j := range r {
				h[i*r+j] *= float64(m[i]) * float64(m[j])
			}
		}
	}
	for i := range r {
		own := p.penalty.At(e, i)
		step[i] -= (lambda[i]-own)*float64(x[i]) + own*(float64(x[i])-p.penalty.Center(i))
	}
	raised = cholesky.SolveRidge(h, r, lambda, step, scratch) // leaves the factor in scratch
	for i, d := range step {
		x[i] += float32(d)
		if !p.hasPosterior() {
			continue
		}
		p.block.Posterior.Var[e*r+i] = float32(p.noise / (h[i*r+i] + lambda[i]))
	}
	if p.hasPosterior() && p.block.Posterior.Cov != nil {
		cholesky.Inverse(scratch, r, h)
		cov := p.block.Posterior.Cov[e*r*r:][:r*r]
		for k := range cov {
			cov[k] = float32(p.noise * h[k])
		}
		for i := range r {
			p.block.Posterior.Var[e*r+i] = cov[i*r+i]
		}
	}
	return raised
}
