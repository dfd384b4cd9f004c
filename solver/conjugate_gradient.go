package solver

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// conjugateGradient solves the normal equations of one block x of a core,
//
//	J' H J x + penalty = J' g,    G = J x + const,    J x = M o (A x),
//
// without forming the matrix, by conjugate gradients with a diagonal
// preconditioner; a pass multiplies by H. The equations of different entities of a
// free block are independent: each entity has its own step lengths, and all share
// one pass per step. A regression is one system, with two operator products per
// step.
//
// For posteriors, H holds expectations. A multiplier with variance v adds the
// diagonal D o v, where D is the diagonal of H; one with covariance C adds H o C.
//
// In float32 the residual falls to about 1e-5 of its start. Further steps would
// follow rounding errors, so a system stops there.
type conjugateGradient struct {
	residual, direction, image, diagonal, lambda []float32 // in the layout of the block
	slices, moved                                backend.Slices
	extra, along                                 []float32 // D o v and A x, in the layout of slices; empty if there is none
	extraFull                                    []float32 // H o C, r x r per entity; nil if there is none
	squares                                      []float32 // of the other cores
}

// cgTolerance is the share of the first r'z at which a system stops.
const cgTolerance = 1e-9

// blockProblem describes the solve of one block.
type blockProblem struct {
	d              *data
	train          *tt.Train
	core           int
	block          tt.Block
	plan           *backend.Plan
	target, weight []float32                                 // in plan order
	sorted         []float32                                 // the target in leaf order, instead of target; nil for none
	sums           func(set func(e int, count, sum float64)) // instead of target; see [observed.Data.EntitySums]
	penalty        *blockPenalty
	entityWeights  []float64 // nil: every entity counts, and one without observations gets its prior
	steps          int

	noise  float64 // posteriors: the variance of an observation of weight 1
	failed error
}

// hasPosterior reports whether the block has variances to solve for.
func (p *blockProblem) hasPosterior() bool { return p.block.Posterior != nil }

// solve improves the block by p.steps steps. It returns the number of systems that
// it could not improve.
func (s *conjugateGradient) solve(p *blockProblem) (stuck int) {
	if stuck, ok := s.solveMiddle(p); ok {
		return stuck
	}
	c := p.train.Cores[p.core]
	n := len(p.block.Value)
	for _, v := range []*[]float32{&s.residual, &s.direction, &s.image, &s.diagonal, &s.lambda} {
		if cap(*v) < n {
			*v = make([]float32, n)
		}
		*v = (*v)[:n]
		parallel.Blocks(p.d.b.Threads(), n, func(from, to int) { clear((*v)[from:to]) })
	}
	if s.slices.Shape != c.Slices.Shape {
		s.slices = backend.NewSlices(c.Slices.Shape)
	}
	cores := p.train.Slices()
	// The gradient of the loss at x is J'(g - H G): the first residual without the
	// penalty.
	if p.hasPosterior() {
		s.expectedEquations(p, cores)
	} else {
		s.extra = s.extra[:0]
		s.fillDiagonal(p, cores)
		p.d.pass(p.plan, cores, &backend.Job{Adjoint: backend.Residual, GradientsOnly: true, Target: p.target, Weight: p.weight, Grad: s.meanGradient(p)})
		p.block.Adjoint(p.d.b, s.residual, s.slices.Mean, false)
	}

	start := s.applyNorm(p, p.block.Value)
	system := s.systems(p, c)
	rz, goal := make([]float64, len(system)), make([]float64, len(system))
	failed := make([]bool, len(system))
	size := c.Slices.Slice()
	backend.ParallelFor(p.d.b, len(system), func(i int) {
		for k := system[i].from; k < system[i].to; k++ {
			lambda := float32(p.penalty.At(k/size, k%size))
			s.lambda[k] = lambda
			s.residual[k] -= lambda * (start[k] - float32(p.penalty.Center(k%size)))
			s.diagonal[k] += lambda
			if s.diagonal[k] > 0 {
				s.direction[k] = s.residual[k] / s.diagonal[k]
			}
			rz[i] += float64(s.residual[k]) * float64(s.direction[k])
		}
		goal[i] = cgTolerance * rz[i]
	})
	s.setVariances(p)
	if s.diagonalSuffices(p, size) {
		return s.moveAll(p, system)
	}
	moved := append([]backend.Slices(nil), cores...)
	for range p.steps {
		if !slices.ContainsFunc(rz, func(v float64) bool { return v > 0 }) {
			break // all systems have stopped
		}
		moved[p.core] = s.applyJacobian(p, s.direction)
		p.d.pass(p.plan, moved, &backend.Job{Adjoint: backend.Product, GradientsOnly: true, SecondMoments: p.hasPosterior(), Weight: p.weight, Grad: s.meanGradient(p)})
		s.adjoint(p, s.image, s.direction, 1)
		along := s.applyNorm(p, s.direction)
		backend.ParallelFor(p.d.b, len(system), func(i int) {
			if rz[i] > goal[i] {
				rz[i], failed[i] = s.step(p, system[i], along, rz[i], goal[i])
			}
		})
	}
	for _, f := range failed {
		if f {
			stuck++
		}
	}
	return stuck
}

// diagonalSuffices reports whether the diagonal is the whole matrix: the systems of a posterior have one
// free weight each. The inner cores of a train of rank 1 are such.
func (s *conjugateGradient) diagonalSuffices(p *blockProblem, size int) bool {
	return size == 1 && p.hasPosterior() && p.block.Map == nil && p.block.MultiplierVar == nil && p.block.Norm == nil
}

// moveAll adds the direction to the weights, which solves systems of one weight. It returns the number of
// systems without a finite solution, whose weights stay.
func (s *conjugateGradient) moveAll(p *blockProblem, system []span) (stuck int) {
	for _, at := range system {
		for k := at.from; k < at.to; k++ {
			if x := p.block.Value[k] + s.direction[k]; x-x == 0 {
				p.block.Value[k] = x
			} else {
				stuck++
			}
		}
	}
	return stuck
}

// applyNorm returns K x if the block's penalty is x'K x, and x otherwise.
func (s *conjugateGradient) applyNorm(p *blockProblem, x []float32) []float32 {
	if p.block.Norm == nil {
		return x
	}
	dst := make([]float32, len(x))
	p.block.Norm(dst, x)
	return dst
}

// span is a range of weights that form one system of equations.
type span struct{ from, to int }

func (s *conjugateGradient) systems(p *blockProblem, c *tt.Core) []span {
	if p.block.Map != nil {
		return []span{{0, len(p.block.Value)}}
	}
	size := c.Slices.Slice()
	var spans []span
	for e := range c.Slices.N - 1 {
		if p.entityWeights == nil || p.entityWeights[e] > 0 {
			spans = append(spans, span{e * size, (e + 1) * size})
		}
	}
	return spans
}

// meanGradient requests the gradient with respect to the core's means, in s.slices.
func (s *conjugateGradient) meanGradient(p *blockProblem) []backend.Slices {
	grad := make([]backend.Slices, len(p.train.Cores))
	grad[p.core] = backend.Slices{Shape: s.slices.Shape, Mean: s.slices.Mean}
	return grad
}

// applyJacobian returns J x as slices. Free weights without multiplier are slices
// already.
func (s *conjugateGradient) applyJacobian(p *blockProblem, x []float32) backend.Slices {
	out := backend.Slices{Shape: p.train.Cores[p.core].Slices.Shape, Mean: x}
	if p.block.Map == nil && p.block.Multiplier == nil {
		return out
	}
	if s.moved.Shape != out.Shape {
		s.moved = backend.NewSlices(out.Shape)
	}
	if len(s.extra) == 0 || p.block.Map == nil {
		p.block.Apply(p.d.b, s.moved.Mean, x)
		return s.moved
	}
	p.block.Map.Apply(p.d.b, s.along, x, false) // which adjoint needs too
	parallel.Blocks(p.d.b.Threads(), len(s.along), func(from, to int) {
		for i := from; i < to; i++ {
			s.moved.Mean[i] = s.along[i] * p.block.Multiplier[i]
		}
	})
	return s.moved
}

// step moves one system along its direction. It returns the new r'z, or 0 if the
// system stops.
func (s *conjugateGradient) step(p *blockProblem, at span, along []float32, rz, goal float64) (next float64, failed bool) {
	x, r, q, h, diag := p.block.Value[at.from:at.to], s.residual[at.from:at.to], s.direction[at.from:at.to], s.image[at.from:at.to], s.diagonal[at.from:at.to]
	lambda := s.lambda[at.from:at.to]
	curvature := 0.0
	for i, v := range q {
		h[i] += lambda[i] * along[at.from+i]
		curvature += float64(v) * float64(h[i])
	}
	if !(curvature > 0) {
		clear(q)
		return 0, curvature != 0 // zero curvature means a core of zeros, which is not a failure
	}
	alpha := float32(rz / curvature)
	for i, v := range q {
		x[i] += alpha * v
		r[i] -= alpha * h[i]
		if diag[i] > 0 {
			next += float64(r[i]) * float64(r[i]) / float64(diag[i])
		}
	}
	if !(next > goal) {
		clear(q) // stopped: a zero direction adds nothing to later passes
		return 0, false
	}
	beta := float32(next / rz)
	for i := range q {
		z := float32(0)
		if diag[i] > 0 {
			z = r[i] / diag[i]
		}
		q[i] = z + beta*q[i]
	}
	return next, false
}

// fillDiagonal sets s.diagonal to the diagonal of J'HJ. The diagonal of H is a pass
// over squared cores with the weights as adjoint. It is exact for free blocks of at
// most three cores. Longer trains use products of squares for squares of products,
// and the diagonal of a regression omits terms between entities. Both are good
// enough for a preconditioner.
func (s *conjugateGradient) fillDiagonal(p *blockProblem, cores []backend.Slices) {
	squared := make([]backend.Slices, len(cores))
	others, used := 0, 0
	for q, c := range cores {
		if q != p.core {
			others += len(c.Mean)
		}
	}
	if cap(s.squares) < others {
		s.squares = make([]float32, others)
	}
	for q, c := range cores {
		squared[q] = c
		if q == p.core {
			continue // not read: the gradient with respect to a core does not depend on it
		}
		to := s.squares[used:][:len(c.Mean)]
		used += len(c.Mean)
		parallel.Blocks(p.d.b.Threads(), len(to), func(from, end int) {
			to := to[from:end]
			for i, v := range c.Mean[from:end] {
				to[i] = v * v
			}
		})
		squared[q].Mean = to
	}
	w := p.weight
	if w == nil {
		w = p.d.ones(p.plan)
	}
	p.d.pass(p.plan, squared, &backend.Job{Adjoint: backend.Given, Target: w, Grad: s.meanGradient(p)})
	p.block.Adjoint(p.d.b, s.diagonal, s.slices.Mean, true)
}
