package solver

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/tt"
)

// centreAdditive gives additive cores the centred form: the posterior is that of the
// whole core U = V' + T and of W, with prior U ~ N(A W, tau'). With independent V'
// and W, each sees the data as if the other were known. The variance of W is then
// far too small, and its learned prior variance shrinks until V' explains what side
// information could, which helps no new id.
func (d *data) centreAdditive() {
	for _, t := range d.field.Terms {
		for _, c := range t.Cores {
			c.Centred = c.Variant == tt.Additive
		}
	}
}

// centredSteps is the number of conjugate gradient steps of a regression on U. They
// need no pass over the data.
const centredSteps = 12

// solveCentred updates W of a centred core with U fixed:
//
//	(rho A'A + lambda) W = rho A'U,   rho = s2/tau', lambda = s2/tau,
//
// over the entities with training data, and sets V' = U - A W. The variances of W
// follow from the same matrix.
func (d *data) solveCentred(p *blockProblem) {
	c, b := p.train.Cores[p.core], p.block
	n := c.TrainedEntities() * c.Slices.Slice()
	rho, lambda := p.noise/float64(c.FreePosterior.PriorVar[0]), p.penalty.at(0, 0)
	along, slices := make([]float32, c.Slices.Len()), make([]float32, c.Slices.Len())
	multiply := func(dst, x []float32, squared bool) {
		for i := range slices {
			slices[i] = 0
			if i < n {
				slices[i] = float32(rho) * x[i]
			}
		}
		b.Map.Adjoint(d.b, dst, slices, squared)
	}

	// The curvature of each entity with training data is rho.
	ones := make([]float32, c.Slices.Len())
	for i := range n {
		ones[i] = 1
	}
	diagonal := make([]float32, len(b.Value))
	multiply(diagonal, ones, true)
	for k := range diagonal {
		diagonal[k] += float32(lambda)
	}
	if sigmas := b.Posterior.Sigma; sigmas != nil {
		for i := range ones {
			ones[i] *= float32(rho)
		}
		for q := range sigmas {
			if err := b.Map.SolveSigma(d.b, sigmas, q, ones, lambda, p.noise); err != nil {
				p.failed = fmt.Errorf("%s: %w", b.Name, err)
			}
		}
	} else {
		for k, v := range diagonal {
			b.Posterior.Var[k] = float32(p.noise) / v
		}
	}

	// V' is the residual of the regression, so the first residual of the equations is
	// rho A'V' - lambda W.
	step, residual, image := make([]float32, len(b.Value)), make([]float32, len(b.Value)), make([]float32, len(b.Value))
	multiply(residual, c.Free, false)
	rz := 0.0
	for k := range residual {
		residual[k] -= float32(lambda) * b.Value[k]
		step[k] = residual[k] / diagonal[k]
		rz += float64(residual[k]) * float64(step[k])
	}
	goal := cgTolerance * rz
	for range centredSteps {
		if !(rz > goal) {
			break
		}
		b.Map.Apply(d.b, along, step, false)
		multiply(image, along, false)
		curvature := 0.0
		for k, v := range step {
			image[k] += float32(lambda) * v
			curvature += float64(v) * float64(image[k])
		}
		if !(curvature > 0) {
			break
		}
		alpha, next := float32(rz/curvature), 0.0
		for k, v := range step {
			b.Value[k] += alpha * v
			residual[k] -= alpha * image[k]
			next += float64(residual[k]) * float64(residual[k]) / float64(diagonal[k])
		}
		for i := range n {
			c.Free[i] -= alpha * along[i]
		}
		for k := range step {
			step[k] = residual[k]/diagonal[k] + float32(next/rz)*step[k]
		}
		rz = next
	}
}

// centredCost returns the divergences of the free weights of centred cores in units
// of the summed loss. They depend on the operators of the regressions.
func (d *data) centredCost() float64 {
	sum := 0.0
	for _, at := range blockIDs(d.field) {
		if c, b := d.posteriorBlock(at); c.Centred && b.Map == nil {
			sum += 2 * float64(d.noise[0]) * c.Divergence(d.b, &b)
		}
	}
	return sum
}
