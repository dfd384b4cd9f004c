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
		copy(residual.blocks[i], b.blocks[i])
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
	s.eachRow(func(i int) { rows[i] = float32(s.weight(i) * (float64(rows[i]) + x.offset) / s.train.Noise) })
	if s.field.Group != nil { // the pullback needs the values of the terms
		s.pull = s.base.EvalOwn(s.b, tt.Moments{Mean: s.value[1]}, s.chunk)
	}
	y.offset = s.adjoint(*y, s.chunk, s.pull, rows)
	for i, ridge := range s.ridge {
		s.each(len(ridge), func(from, to int) {
			y := y.blocks[i]
			for k, v := range x.blocks[i][from:to] {
				y[from+k] += v * ridge[from+k]
			}
		})
	}
}

// each calls work for pieces of the weights of a block.
func (s *system) each(n int, work func(from, to int)) { parallel.Blocks(s.b.Threads(), n, work) }

// sum adds the sums of pieces of the weights of a block.
func (s *system) sum(n int, part func(from, to int) float64) float64 {
	return parallel.Sum(s.b.Threads(), n, part)
}

// setRidge sets what P has beside J'W J / s2: 1/tau and D. The diagonal of P is 1/v, the
// optimum of the variances, so D is what of it neither the prior nor the Jacobian explains.
func (s *system) setRidge() {
	s.ridge = s.newVector().blocks
	for i, b := range s.blocks {
		for k := range s.ridge[i] {
			s.ridge[i][k] = 1 / b.Posterior.PriorVar[0]
		}
	}
	if s.field.Group != nil {
		return // products of terms: without D
	}
	weight := s.value[1]
	s.eachRow(func(i int) { weight[i] = float32(s.weight(i) / s.train.Noise) })
	none, planned := backend.Make[float32](s.b, len(weight)), backend.Make[float32](s.b, len(weight))
	defer paged.Free(backend.Pages(s.b), none)
	defer paged.Free(backend.Pages(s.b), planned)
	for k, t := range s.base.Terms {
		grad := make([]backend.Slices, len(t.Cores))
		for p, c := range t.Cores {
			grad[p] = backend.Slices{Shape: c.Slices.Shape, Var: make([]float32, c.Slices.Len())}
		}
		s.b.Pass(s.chunk.Gather(s.b, k, planned, weight), t.Slices(), &backend.Job{Adjoint: backend.Given, GradientsOnly: true, SecondMoments: true, Target: none, VarAdjoint: planned, Grad: grad})
		for i, b := range s.blocks {
			if b.term != k {
				continue
			}
			own, diagonal := b.Block, make([]float32, len(b.Value))
			own.MultiplierVar = nil
			own.Adjoint(s.b, diagonal, append([]float32(nil), grad[b.core].Var...), true)
			for j, v := range b.Posterior.Var {
				if rest := 1/v - s.ridge[i][j] - diagonal[j]; v > 0 && rest > 0 {
					s.ridge[i][j] += rest
				}
			}
		}
	}
}

// eachRow calls work for the training rows of this process.
func (s *system) eachRow(work func(i int)) {
	from, to := s.chunk.Own()
	backend.ParallelFor(s.b, to-from, func(i int) { work(from + i) })
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

// jacobian returns J x at the training rows, without the offset, as a central difference:
// a field is a product of cores, so its error is the product of the changes of three.
func (s *system) jacobian(x vector) []float32 {
	if s.direction == nil {
		s.direction = s.field.NewGradients()
	}
	direction := s.direction
	for _, cores := range direction {
		for _, c := range cores {
			s.each(len(c.Mean), func(from, to int) { clear(c.Mean[from:to]) })
		}
	}
	for i, b := range s.blocks {
		part := direction[b.term][b.core].Mean
		if cap(s.own) < len(part) {
			s.own = make([]float32, len(part))
		}
		own := s.own[:len(part)]
		b.Apply(s.b, own, x.blocks[i])
		parallel.Blocks(s.b.Threads(), len(own)-direction[b.term][b.core].Slice(), func(from, to int) { // without the prior
			for k, v := range own[from:to] {
				part[from+k] += v
			}
		})
	}
	step := math.Inf(1)
	for k, t := range s.base.Terms {
		for p, c := range t.Cores {
			if largest := s.largest(direction[k][p].Mean); largest > 0 {
				step = min(step, change*s.rootMeanSquare(c.Slices.Mean)/largest)
			}
		}
	}
	up, down := s.value[0], s.value[1]
	if !(step > 0) || math.IsInf(step, 0) {
		clear(up)
		return up
	}
	s.evaluate(up, direction, step)
	s.evaluate(down, direction, -step)
	s.eachRow(func(i int) { up[i] = (up[i] - down[i]) / float32(2*step) })
	return up
}

// evaluate writes the field whose slices are moved by step times a direction.
func (s *system) evaluate(dst []float32, direction tt.Gradients, step float64) {
	for k, t := range s.moved.Terms {
		for p, c := range t.Cores {
			base, d := s.base.Terms[k].Cores[p].Slices.Mean, direction[k][p].Mean
			parallel.Blocks(s.b.Threads(), len(d), func(from, to int) {
				for i := from; i < to; i++ {
					c.Slices.Mean[i] = base[i] + float32(step)*d[i]
				}
			})
		}
	}
	s.moved.EvalOwn(s.b, tt.Moments{Mean: dst}, s.chunk)
}

// precondition sets y to V x plus a multiple of y.
func (s *system) precondition(y *vector, x vector, multiple float64) {
	for i, b := range s.blocks {
		s.each(len(x.blocks[i]), func(from, to int) {
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
		sum += s.sum(len(x.blocks[i]), func(from, to int) (sum float64) {
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
			sum += covariances(b.Posterior, x.blocks[i], factor)
			continue
		}
		sum += s.sum(len(x.blocks[i]), func(from, to int) (sum float64) {
			for k, v := range x.blocks[i][from:to] {
				sum += b.Posterior.Widened(float64(b.Posterior.Var[from+k]), factor) * float64(v) * float64(v)
			}
			return sum
		})
	}
	return sum
}

// covariances is variance for a block with a covariance per entity.
func covariances(p *tt.Posterior, x []float32, factor float64) (sum float64) {
	size := len(p.Cov) / len(x)
	y := make([]float64, size)
	for e := 0; e < len(x); e += size {
		cov := p.Cov[e*size:][:size*size]
		for i := range y {
			y[i] = float64(x[e+i])
			if v := float64(cov[i*size+i]); v > 0 {
				y[i] *= math.Sqrt(p.Widened(v, factor) / v)
			}
		}
		for i, a := range y {
			for j, b := range y {
				sum += a * float64(cov[i*size+j]) * b
			}
		}
	}
	return sum
}

func (s *system) dot(x, y vector) float64 {
	sum := x.offset * y.offset
	for i := range x.blocks {
		sum += s.sum(len(x.blocks[i]), func(from, to int) (sum float64) {
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
		s.each(len(x.blocks[i]), func(from, to int) {
			x := x.blocks[i]
			for k, v := range y.blocks[i][from:to] {
				x[from+k] += float32(multiple) * v
			}
		})
	}
	x.offset += multiple * y.offset
}

func (s *system) largest(values []float32) float64 {
	return float64(parallel.Reduce(s.b.Threads(), len(values), func(from, to int) (most float32) {
		for _, v := range values[from:to] {
			most = max(most, v, -v)
		}
		return most
	}, func(a, b float32) float32 { return max(a, b) }))
}

func (s *system) rootMeanSquare(values []float32) float64 {
	return math.Sqrt(s.sum(len(values), func(from, to int) (sum float64) {
		for _, v := range values[from:to] {
			sum += float64(v) * float64(v)
		}
		return sum
	}) / float64(max(1, len(values))))
}
