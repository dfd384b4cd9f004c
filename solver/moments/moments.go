// Package moments takes the steps of Adam, the method of first order, from the running
// moments of derivatives: of single numbers, of variances and of covariances over modes.
package moments

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// The usual constants of Adam.
const (
	DecayMean   = 0.9
	DecaySquare = 0.999
	epsilon     = 1e-8
)

// Direction adds a derivative to its running moments and returns the step direction.
func Direction(m, v *float32, d float32) float32 {
	*m += (1 - DecayMean) * (d - *m)
	*v += (1 - DecaySquare) * (d*d - *v)
	return *m / (float32(math.Sqrt(float64(*v))) + epsilon)
}

// Steps are steps of one size for parameters whose running moments begin at M and V.
type Steps struct {
	Backend backend.Backend
	Rate    float64
	M, V    []float32
}

// LogVariances updates variances on the log scale. derivative returns the derivative with
// respect to the logarithm of variance i, whose value is s.
func (s Steps) LogVariances(values []float32, derivative func(i int, s float64) float64) {
	backend.ParallelFor(s.Backend, len(values), func(i int) {
		old := float64(values[i])
		values[i] = float32(old * math.Exp(-s.Rate*float64(Direction(&s.M[i], &s.V[i], float32(derivative(i, old))))))
	})
}

// A Factor is the objective of the factor B of a covariance over a mode, whose derivative
// by entry (i, j) of the lower triangle is data gradient(i, j) + 2 trace B(i, j), less
// 2 copies / B(i, i) on the diagonal.
type Factor struct {
	Gradient            []float32
	Data, Trace, Copies float64
}

// Triangular updates B = diag(d) C, with C unit lower triangular. Steps are those of log d
// and of the entries of C, so they have no unit.
func (s Steps) Triangular(sigma *regression.Sigma, f Factor) {
	lead := sigma.Lead
	backend.ParallelFor(s.Backend, lead, func(i int) {
		row, from := sigma.Factor[i*lead:][:i+1], i*lead
		old, along := float64(row[i]), 0.0
		by := func(j int) float64 { return f.Data*float64(f.Gradient[from+j]) + 2*f.Trace*float64(row[j]) }
		for j, x := range row {
			along += by(j) * float64(x)
		}
		now := old * math.Exp(-s.Rate*float64(Direction(&s.M[from+i], &s.V[from+i], float32(along-2*f.Copies))))
		for j := range i {
			c := float64(row[j])/old - s.Rate*float64(Direction(&s.M[from+j], &s.V[from+j], float32(by(j)*old)))
			row[j] = float32(now * c)
		}
		row[i] = float32(now)
	})
}

// Product updates a factor in the paper's parametrisation, B = ltri(B0 B0') + diag(D).
// memory begins with B0, or zeros before its start. The moments of B0 have the places of
// those of B; those of D have places after those of the Sigma. Steps are relative to the
// size of B.
func (s Steps) Product(sigma *regression.Sigma, f Factor, memory []float32) {
	lead := sigma.Lead
	g := make([]float32, lead*lead)
	b0, started, size := memory[:lead*lead], false, 0.0
	for i := range lead {
		own := float64(sigma.Factor[i*lead+i])
		for j := range i + 1 {
			g[i*lead+j] = float32(f.Data*float64(f.Gradient[i*lead+j]) + 2*f.Trace*float64(sigma.Factor[i*lead+j]))
		}
		g[i*lead+i] -= float32(2 * f.Copies / own)
		size += math.Abs(own) / float64(lead)
	}
	for _, v := range b0 {
		started = started || v != 0
	}
	if !started {
		sigma.StartProduct(b0)
	}
	d, by := sigma.ProductDiagonal(b0), sigma.ProductGradient(s.Backend, g, b0)
	for i := range b0 {
		b0[i] -= float32(s.Rate*math.Sqrt(size)) * Direction(&s.M[i], &s.V[i], by[i])
	}
	after := len(b0) + len(sigma.Diag)
	m, v := s.M[after:], s.V[after:]
	for i := range d {
		d[i] -= float32(s.Rate*size) * Direction(&m[i], &v[i], g[i*lead+i])
	}
	sigma.SetProduct(s.Backend, b0, d)
}
