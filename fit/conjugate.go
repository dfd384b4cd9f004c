package fit

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// conjugate solves the normal equations of one block x of a core, with
// G = J x + const, J being M o (A x),
//
//	J' H J x + penalty = J' g,
//
// matrix-free, by conjugate gradients preconditioned with the diagonal; H acts
// by a pass. The equations of a free block's entities are independent: each has
// step lengths of its own, and all share the passes, one a step. A regression's
// are one system, with two products of the operators a step.
//
// Where the cores vary, H is that of expectations, and a multiplier's variance v
// adds the diagonal D o v to it, D the diagonal of H; its covariance C, H o C.
//
// In float32 the residual falls to about 1e-5 of its start; going on from there
// would follow rounding errors, so a system that got so far rests.
type conjugate struct {
	residual, direction, image, diagonal, lambda []float32 // in the form of the block
	slices, moved                                backend.Slices
	extra, along                                 []float32 // D o v, and its product, in the form of slices; nil without
	extraFull                                    []float32 // H o C, r x r an entity; nil without
}

// restAt is the share of the first r'z at which a system rests.
const restAt = 1e-9

// blockProblem is what a block's solve needs to know.
type blockProblem struct {
	d       *data
	train   *tt.Train
	core    int
	block   tt.Block
	plan    *backend.Plan
	y, w    []float32 // in plan order
	penalty *penalty
	counts  []float64
	steps   int

	noise  float64 // where weights vary: the variance of an observation of weight 1
	failed error
}

// varies tells whether the block's weights have variances to be found.
func (p *blockProblem) varies() bool { return p.block.Spread != nil }

// solve improves the block by the given number of steps and returns how many
// systems had to be left as they were.
func (s *conjugate) solve(p *blockProblem) (stuck int) {
	c := p.train.Cores[p.core]
	n := len(p.block.Value)
	for _, v := range []*[]float32{&s.residual, &s.direction, &s.image, &s.diagonal, &s.lambda} {
		if cap(*v) < n {
			*v = make([]float32, n)
		}
		*v = (*v)[:n]
		clear(*v)
	}
	if s.slices.Shape != c.Slices.Shape {
		s.slices = backend.NewSlices(c.Slices.Shape)
	}
	cores := p.train.Slices()
	// The gradient of the loss at x is J'(g - H G): the first residual but for
	// the penalty.
	if p.varies() {
		s.expected(p, cores)
	} else {
		s.squares(p, cores)
		p.d.pass(p.plan, cores, &backend.Job{Adjoint: backend.Residual, Target: p.y, Weight: p.w, Grad: s.only(p)})
		p.block.Adjoint(p.d.b, s.residual, s.slices.Mean, false)
	}

	start := s.normed(p, p.block.Value)
	system := s.systems(p, c)
	rz, goal := make([]float64, len(system)), make([]float64, len(system))
	failed := make([]bool, len(system))
	size := c.Slices.Slice()
	backend.Each(p.d.b, len(system), func(i int) {
		for k := system[i].from; k < system[i].to; k++ {
			lambda := float32(p.penalty.at(k/size, k%size))
			s.lambda[k] = lambda
			s.residual[k] -= lambda * (start[k] - float32(p.penalty.drawnTo(k%size)))
			s.diagonal[k] += lambda
			if s.diagonal[k] > 0 {
				s.direction[k] = s.residual[k] / s.diagonal[k]
			}
			rz[i] += float64(s.residual[k]) * float64(s.direction[k])
		}
		goal[i] = restAt * rz[i]
	})
	s.setVariances(p)
	moved := append([]backend.Slices(nil), cores...)
	for range p.steps {
		moved[p.core] = s.push(p, s.direction)
		p.d.pass(p.plan, moved, &backend.Job{Adjoint: backend.Product, Second: p.varies(), Weight: p.w, Grad: s.only(p)})
		p.block.Adjoint(p.d.b, s.image, s.slices.Mean, false)
		s.addExtra(p, s.image, s.direction, 1)
		along := s.normed(p, s.direction)
		backend.Each(p.d.b, len(system), func(i int) {
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

// normed returns K x where the block's penalty is x'K x, else x.
func (s *conjugate) normed(p *blockProblem, x []float32) []float32 {
	if p.block.Norm == nil {
		return x
	}
	dst := make([]float32, len(x))
	p.block.Norm(dst, x)
	return dst
}

// span is a range of weights with equations of its own.
type span struct{ from, to int }

func (s *conjugate) systems(p *blockProblem, c *tt.Core) []span {
	if p.block.Map != nil {
		return []span{{0, len(p.block.Value)}}
	}
	size := c.Slices.Slice()
	var spans []span
	for e := range c.Slices.N - 1 {
		if p.counts[e] > 0 {
			spans = append(spans, span{e * size, (e + 1) * size})
		}
	}
	return spans
}

// only asks for the gradient of the core's means, into s.slices.
func (s *conjugate) only(p *blockProblem) []backend.Slices {
	grad := make([]backend.Slices, len(p.train.Cores))
	grad[p.core] = backend.Slices{Shape: s.slices.Shape, Mean: s.slices.Mean}
	return grad
}

// push returns J x as slices. Free weights without multiplier are slices as
// they are.
func (s *conjugate) push(p *blockProblem, x []float32) backend.Slices {
	out := backend.Slices{Shape: p.train.Cores[p.core].Slices.Shape, Mean: x}
	if p.block.Map == nil && p.block.Multiplier == nil {
		return out
	}
	if s.moved.Shape != out.Shape {
		s.moved = backend.NewSlices(out.Shape)
	}
	p.block.Apply(p.d.b, s.moved.Mean, x)
	return s.moved
}

// step moves one system along its direction and returns its new r'z, 0 where it
// cannot go on.
func (s *conjugate) step(p *blockProblem, at span, along []float32, rz, goal float64) (next float64, failed bool) {
	x, r, q, h, diag := p.block.Value[at.from:at.to], s.residual[at.from:at.to], s.direction[at.from:at.to], s.image[at.from:at.to], s.diagonal[at.from:at.to]
	lambda := s.lambda[at.from:at.to]
	curvature := 0.0
	for i, v := range q {
		h[i] += lambda[i] * along[at.from+i]
		curvature += float64(v) * float64(h[i])
	}
	if !(curvature > 0) {
		clear(q)
		return 0, curvature != 0 // a core of zeros has none, and is no failure
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
		clear(q) // at rest: it adds nothing to the passes that follow
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

// squares fills s.diagonal with the diagonal of J'HJ: that of H is a pass over
// squared cores with the weights as adjoint. It is exact for free blocks of
// three cores or fewer; in longer trains squares of products are taken for
// products of squares, and a regression's diagonal leaves out what different
// entities share, which is near enough for a preconditioner.
func (s *conjugate) squares(p *blockProblem, cores []backend.Slices) {
	squared := make([]backend.Slices, len(cores))
	for q, c := range cores {
		squared[q] = c
		if q == p.core {
			continue // not read: the gradient by a core does not depend on it
		}
		squared[q].Mean = make([]float32, len(c.Mean))
		for i, v := range c.Mean {
			squared[q].Mean[i] = v * v
		}
	}
	w := p.w
	if w == nil {
		w = make([]float32, p.plan.Cells())
		for i := range w {
			w[i] = 1
		}
	}
	p.d.pass(p.plan, squared, &backend.Job{Adjoint: backend.Given, Target: w, Grad: s.only(p)})
	p.block.Adjoint(p.d.b, s.diagonal, s.slices.Mean, true)
}
