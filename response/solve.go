package response

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// solve returns an approximation of b' P^-1 b, from below, by conjugate gradients that are
// preconditioned by the variances of the posterior.
func (s *system) solve(b vector) float64 {
	residual, direction, product := s.newVector(), s.newVector(), s.newVector()
	for i := range b.blocks {
		s.each(i, func(from, to int) { copy(residual.blocks[i][from:to], b.blocks[i][from:to]) })
	}
	residual.offset = b.offset
	s.precondition(&direction, residual, 0)
	norm := s.energy(residual)
	value := 0.0
	for range maxSteps {
		s.multiply(&product, direction)
		curvature := s.dot(direction, product)
		if !(norm > 0) || !(curvature > 0) {
			break
		}
		// The solution x grows by step times direction, and b'x by step times norm: all
		// directions but this one are orthogonal to the residual.
		step := norm / curvature
		value += step * norm
		if step*norm < tolerance*value {
			break
		}
		s.add(&residual, product, -step)
		next := s.energy(residual)
		s.precondition(&direction, residual, next/norm)
		norm = next
	}
	return value
}

// multiply sets y to P x.
func (s *system) multiply(y *vector, x vector) {
	rows := s.jacobian(x)
	s.eachRows(func(from, to int) {
		for i := from; i < to; i++ {
			rows[i] = float32(s.weight(i) * (float64(rows[i]) + x.offset) / s.train.Noise)
		}
	})
	if s.field.Group != nil { // the pullback needs the values of the terms
		s.base.EvalOwn(s.b, tt.Moments{Mean: s.value[1]}, s.chunk)
	}
	y.offset = s.adjoint(*y, s.chunk, s.own, rows)
	for i, ridge := range s.ridge {
		s.each(i, func(from, to int) {
			y := y.blocks[i]
			for k, v := range x.blocks[i][from:to] {
				y[from+k] += v * ridge[from+k]
			}
		})
	}
}

// setRidge sets what P has beside J'W J / s2: 1/tau and D. The diagonal of P is 1/v, the
// optimum of the variances, so D is what of it neither the prior nor the Jacobian explains.
func (s *system) setRidge() {
	s.ridge = s.newVector().blocks
	for i, b := range s.blocks {
		s.each(i, func(from, to int) {
			for k := from; k < to; k++ {
				s.ridge[i][k] = 1 / b.Posterior.PriorVar[0]
			}
		})
	}
	if s.field.Group != nil {
		return // products of terms: without D
	}
	weight := s.value[1]
	s.eachRows(func(from, to int) {
		for i := from; i < to; i++ {
			weight[i] = float32(s.weight(i) / s.train.Noise)
		}
	})
	none, planned := backend.Make[float32](s.b, len(weight)), backend.Make[float32](s.b, len(weight))
	defer paged.Free(backend.Pages(s.b), none)
	defer paged.Free(backend.Pages(s.b), planned)
	for k, t := range s.base.Terms {
		grad := make([]backend.Slices, len(t.Cores))
		for p, c := range t.Cores {
			grad[p] = backend.Slices{Shape: c.Slices.Shape, Var: make([]float32, c.Slices.Len())}
		}
		s.b.Pass(s.chunk.Gather(s.b, k, planned, weight), t.Slices(), &backend.Job{Adjoint: backend.Given, GradientsOnly: true, SecondMoments: true, OwnEntities: s.own[k], Target: none, VarAdjoint: planned, Grad: grad})
		for i, b := range s.blocks {
			if b.term != k {
				continue
			}
			diagonal := grad[b.core].Var
			if s.plain(b) {
				s.runs[i].complete(diagonal)
			} else {
				own := b.Block
				own.MultiplierVar = nil
				diagonal = make([]float32, len(b.Value))
				own.Adjoint(s.b, diagonal, append([]float32(nil), grad[b.core].Var...), true)
			}
			s.each(i, func(from, to int) {
				ridge := s.ridge[i]
				for j, v := range b.Posterior.Var[from:to] {
					if rest := 1/v - ridge[from+j] - diagonal[from+j]; v > 0 && rest > 0 {
						ridge[from+j] += rest
					}
				}
			})
		}
	}
}

// eachRows calls work for pieces of the training rows of this process.
func (s *system) eachRows(work func(from, to int)) {
	from, to := s.chunk.Own()
	parallel.Blocks(s.b.Threads(), to-from, func(a, b int) { work(from+a, from+b) })
}

func (s *system) weight(i int) float64 {
	if s.train.W == nil {
		return 1
	}
	return float64(s.train.W[i])
}

// change is the largest change of an entry of a slice, relative to the root mean square of
// the core, over which differences of the field are taken.
const change = 0.1

// jacobian returns J x at the training rows, without the offset: the values of a term of one core
// at x, and of other terms a central difference. A term is a product of cores, so its error is the
// product of the changes of three.
func (s *system) jacobian(x vector) []float32 {
	s.setDirection(x)
	step := math.Inf(1)
	for k, cores := range s.direction {
		for p, d := range cores {
			if len(cores) == 1 && s.field.Group == nil {
				continue
			}
			if largest := s.largest(k, p, d); largest > 0 {
				step = min(step, change*s.root[k][p]/largest)
			}
		}
	}
	rows, scratch := s.value[0], s.value[1]
	s.eachRows(func(from, to int) { clear(rows[from:to]) })
	differs := step > 0 && !math.IsInf(step, 0)
	if s.field.Group != nil {
		if differs {
			s.differences(rows, scratch, step)
		}
		return rows
	}
	for k, t := range s.moved.Terms {
		switch {
		case len(t.Cores) == 1:
			s.chunk.AddEffect(s.b, k, rows, s.direction[k][0])
		case differs:
			s.move(k, step)
			s.chunk.AddDifference(s.b, k, rows, scratch, t.Slices(), func() { s.move(k, -step) }, float32(1/(2*step)))
		}
	}
	return rows
}

// setDirection sets the change of the slices of all cores that a change x of the weights causes.
func (s *system) setDirection(x vector) {
	if s.direction == nil {
		for _, t := range s.base.Terms {
			s.direction = append(s.direction, make([][]float32, len(t.Cores)))
		}
	}
	for i, b := range s.blocks {
		core := s.field.Terms[b.term].Cores[b.core]
		to := &s.direction[b.term][b.core]
		if s.plain(b) {
			*to = x.blocks[i]
			continue
		}
		if *to == nil {
			*to = make([]float32, core.Slices.Len())
		}
		if cap(s.scratch) < len(*to) {
			s.scratch = make([]float32, len(*to))
		}
		own, first := s.scratch[:len(*to)], i == 0 || s.blocks[i-1].term != b.term || s.blocks[i-1].core != b.core
		b.Apply(s.b, own, x.blocks[i])
		clear(own[len(own)-core.Slices.Slice():]) // without the prior
		parallel.Blocks(s.b.Threads(), len(own), func(from, end int) {
			if first {
				copy((*to)[from:end], own[from:end])
				return
			}
			for k, v := range own[from:end] {
				(*to)[from+k] += v
			}
		})
	}
}

// move sets the slices of a term to those of the field, moved by step times the direction.
func (s *system) move(term int, step float64) {
	for p, c := range s.moved.Terms[term].Cores {
		base, d := s.base.Terms[term].Cores[p].Slices.Mean, s.direction[term][p]
		s.eachOf(term, p, len(d), func(from, to int) {
			for i := from; i < to; i++ {
				c.Slices.Mean[i] = base[i] + float32(step)*d[i]
			}
		})
	}
}

// differences sets rows to central differences of the whole field.
func (s *system) differences(up, down []float32, step float64) {
	for k := range s.moved.Terms {
		s.move(k, step)
	}
	s.moved.EvalOwn(s.b, tt.Moments{Mean: up}, s.chunk)
	for k := range s.moved.Terms {
		s.move(k, -step)
	}
	s.moved.EvalOwn(s.b, tt.Moments{Mean: down}, s.chunk)
	s.eachRows(func(from, to int) {
		for i := from; i < to; i++ {
			up[i] = (up[i] - down[i]) / float32(2*step)
		}
	})
}

// precondition sets y to V x plus a multiple of y.
func (s *system) precondition(y *vector, x vector, multiple float64) {
	for i, b := range s.blocks {
		s.each(i, func(from, to int) {
			y := y.blocks[i]
			for k, v := range x.blocks[i][from:to] {
				y[from+k] = float32(multiple)*y[from+k] + b.Posterior.Var[from+k]*v
			}
		})
	}
	y.offset = multiple*y.offset + float64(s.field.Offset.Var)*x.offset
}

// energy returns x' V x with the variances alone.
func (s *system) energy(x vector) float64 {
	sum := float64(s.field.Offset.Var) * x.offset * x.offset
	for i, b := range s.blocks {
		sum += s.sum(i, func(from, to int) (sum float64) {
			for k, v := range x.blocks[i][from:to] {
				sum += float64(b.Posterior.Var[from+k]) * float64(v) * float64(v)
			}
			return sum
		})
	}
	return sum
}

// variance returns x' V x for a posterior that is widened by a factor.
func (s *system) variance(x vector, factor float64) float64 {
	sum := factor * float64(s.field.Offset.Var) * x.offset * x.offset
	for i, b := range s.blocks {
		if b.Posterior.Cov != nil {
			sum += covariances(s.b.Threads(), b.Posterior, x.blocks[i], factor)
			continue
		}
		sum += s.sum(i, func(from, to int) (sum float64) {
			for k, v := range x.blocks[i][from:to] {
				sum += b.Posterior.Widened(float64(b.Posterior.Var[from+k]), factor) * float64(v) * float64(v)
			}
			return sum
		})
	}
	return sum
}

// covariances is variance for a block with a covariance per entity.
func covariances(threads int, p *tt.Posterior, x []float32, factor float64) float64 {
	size := len(p.Cov) / len(x)
	entities := len(x) / size
	const run = 64 // entities that are summed at a time
	parts := make([]float64, max(1, (entities+run-1)/run))
	parallel.For(threads, len(parts), func(r int) {
		y := make([]float64, size)
		for e := r * run; e < min(entities, (r+1)*run); e++ {
			cov, x := p.Cov[e*size*size:][:size*size], x[e*size:][:size]
			for i := range y {
				y[i] = float64(x[i])
				if v := float64(cov[i*size+i]); v > 0 {
					y[i] *= math.Sqrt(p.Widened(v, factor) / v)
				}
			}
			for i, a := range y {
				for j, b := range y {
					parts[r] += a * float64(cov[i*size+j]) * b
				}
			}
		}
	})
	return parallel.Tree(parts, func(a, b float64) float64 { return a + b })
}

func (s *system) dot(x, y vector) float64 {
	sum := x.offset * y.offset
	for i := range x.blocks {
		sum += s.sum(i, func(from, to int) (sum float64) {
			y := y.blocks[i]
			for k, v := range x.blocks[i][from:to] {
				sum += float64(v) * float64(y[from+k])
			}
			return sum
		})
	}
	return sum
}

// add adds a multiple of y to x.
func (s *system) add(x *vector, y vector, multiple float64) {
	for i := range x.blocks {
		s.each(i, func(from, to int) {
			x := x.blocks[i]
			for k, v := range y.blocks[i][from:to] {
				x[from+k] += float32(multiple) * v
			}
		})
	}
	x.offset += multiple * y.offset
}
