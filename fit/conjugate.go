package fit

import (
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// conjugate solves the normal equations of one core,
//
//	H_e X_e + lambda_e X_e = g_e   for every entity e,
//
// matrix-free, by conjugate gradients preconditioned with the diagonal. The
// equations of the entities are independent: each has step lengths of its own,
// and all share the passes, one a step.
//
// In float32 the residual falls to about 1e-5 of its start; going on from there
// would follow rounding errors, so an entity that got so far rests.
type conjugate struct {
	residual, direction, image, diagonal backend.Slices
}

func (s *conjugate) fit(shape backend.Shape) {
	for _, v := range []*backend.Slices{&s.residual, &s.direction, &s.image, &s.diagonal} {
		if cap(v.Mean) < shape.Len() {
			v.Mean = make([]float32, shape.Len())
		}
		v.Shape, v.Mean = shape, v.Mean[:shape.Len()]
	}
}

// solve improves core p of the train by the given number of steps and returns
// how many entities had to be left as they were.
func (s *conjugate) solve(d *data, t *tt.Train, p int, plan *backend.Plan, y, w []float32, ridge Ridge, counts []float64, steps int) (stuck int) {
	c := t.Cores[p]
	s.fit(c.Slices.Shape)
	cores := t.Slices()
	only := func(v backend.Slices) []backend.Slices {
		grad := make([]backend.Slices, len(cores))
		grad[p] = v
		return grad
	}
	s.squares(d, cores, p, plan, w, only(s.diagonal))
	// The gradient of the loss at X is g - H X: the first residual but for
	// the penalty.
	d.pass(plan, cores, &backend.Job{Adjoint: backend.Residual, Target: y, Weight: w, Grad: only(s.residual)})
	size := c.Slices.Slice()
	rz, goal := make([]float64, c.Slices.N), make([]float64, c.Slices.N)
	failed := make([]bool, c.Slices.N)
	entities(d.b, c.Slices.N-1, func(e int) {
		lambda := float32(ridge.at(counts[e]))
		x, r, z, diag := at(c.Slices, e), at(s.residual, e), at(s.direction, e), at(s.diagonal, e)
		for i := range size {
			r[i] -= lambda * x[i]
			diag[i] += lambda
			z[i] = 0
			if diag[i] > 0 {
				z[i] = r[i] / diag[i]
			}
			rz[e] += float64(r[i]) * float64(z[i])
		}
		goal[e] = restAt * rz[e]
	})
	clear(at(s.direction, c.Slices.N-1))
	moved := append([]backend.Slices(nil), cores...)
	moved[p] = s.direction
	for range steps {
		d.pass(plan, moved, &backend.Job{Adjoint: backend.Product, Weight: w, Grad: only(s.image)})
		entities(d.b, c.Slices.N-1, func(e int) {
			if rz[e] > goal[e] {
				rz[e], failed[e] = s.step(c, e, float32(ridge.at(counts[e])), rz[e], goal[e])
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

// restAt is the share of the first r'z at which an entity rests.
const restAt = 1e-9

// step moves one entity along its direction and returns its new r'z, 0 where it
// cannot go on.
func (s *conjugate) step(c *tt.Core, e int, lambda float32, rz, goal float64) (next float64, failed bool) {
	x, r, q, h, diag := at(c.Slices, e), at(s.residual, e), at(s.direction, e), at(s.image, e), at(s.diagonal, e)
	curvature := 0.0
	for i, v := range q {
		h[i] += lambda * v
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

// squares fills grad with the diagonal of H: a pass over squared cores with the
// weights as adjoint. It is exact for three cores or fewer; in longer trains
// squares of products are taken for products of squares, which is near enough
// for a preconditioner.
func (s *conjugate) squares(d *data, cores []backend.Slices, p int, plan *backend.Plan, w []float32, grad []backend.Slices) {
	squared := make([]backend.Slices, len(cores))
	for q, c := range cores {
		squared[q] = backend.Slices{Shape: c.Shape, Mean: s.image.Mean[:0]}
		if q == p {
			squared[q].Mean = c.Mean // not read: the gradient by a core does not depend on it
			continue
		}
		squared[q].Mean = make([]float32, len(c.Mean))
		for i, v := range c.Mean {
			squared[q].Mean[i] = v * v
		}
	}
	if w == nil {
		w = make([]float32, plan.Cells())
		for i := range w {
			w[i] = 1
		}
	}
	d.pass(plan, squared, &backend.Job{Adjoint: backend.Given, Target: w, Grad: grad})
}

func at(s backend.Slices, e int) []float32 {
	n := s.Slice()
	return s.Mean[e*n:][:n]
}

// entities runs work for each entity in [0, n) on the backend's number of
// goroutines.
func entities(b backend.Backend, n int, work func(e int)) {
	threads := min(b.Threads(), n)
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			for e := n * t / threads; e < n*(t+1)/threads; e++ {
				work(e)
			}
		})
	}
	wait.Wait()
}
