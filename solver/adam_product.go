package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/tt"
)

// updateProduct updates a covariance in the paper's parametrisation, B = ltri(B0 B0') +
// diag(D); g is the derivative by B. The memory holds B0, or zeros before its start, in
// the place of the moments of B; those of D have places after those of the Sigma. Steps are
// relative to the size of B.
func (a *adam) updateProduct(sigma *tt.Sigma, g []float32, offset int, rate float64) {
	lead := sigma.Lead
	b0, started, size := a.run.Memory[2][offset:][:lead*lead], false, 0.0
	for i, v := range b0 {
		started = started || v != 0
		if i%(lead+1) == 0 {
			size += math.Abs(float64(sigma.Factor[i])) / float64(lead)
		}
	}
	if !started {
		sigma.StartProduct(b0)
	}
	d, by := sigma.ProductDiagonal(b0), sigma.ProductGradient(a.d.b, g, b0)
	m, v := a.run.Memory[0][offset:], a.run.Memory[1][offset:]
	for i := range b0 {
		b0[i] -= float32(rate*math.Sqrt(size)) * adamDirection(&m[i], &v[i], by[i])
	}
	m, v = m[len(b0)+len(sigma.Diag):], v[len(b0)+len(sigma.Diag):]
	for i := range d {
		d[i] -= float32(rate*size) * adamDirection(&m[i], &v[i], g[i*lead+i])
	}
	sigma.SetProduct(a.d.b, b0, d)
}
