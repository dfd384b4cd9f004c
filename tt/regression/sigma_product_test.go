package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// TestProductFactor checks that the paper's parametrisation reproduces any factor, and its
// derivatives against finite differences.
func TestProductFactor(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	for _, n := range []int{1, 2, 7} {
		s := &Sigma{Lead: n, Factor: make([]float32, n*n)}
		for i := range n {
			for j := range i + 1 {
				s.Factor[i*n+j] = float32(rng.NormFloat64())
			}
		}
		want := append([]float32(nil), s.Factor...)
		b0 := make([]float32, n*n)
		s.StartProduct(b0)
		d := s.ProductDiagonal(b0)
		s.SetProduct(ref.Backend{}, b0, d)
		for k, v := range want {
			if math.Abs(float64(s.Factor[k]-v)) > 1e-5 {
				t.Errorf("%d columns: got B %v, want %v", n, s.Factor, want)
				break
			}
		}
		for k := range b0 {
			b0[k] = float32(rng.NormFloat64()) // a full matrix, as after steps
		}
		g := make([]float32, n*n)
		for k := range g {
			g[k] = float32(rng.NormFloat64())
		}
		value := func() float64 {
			s.SetProduct(ref.Backend{}, b0, d)
			sum := 0.0
			for i := range n {
				for j := range i + 1 {
					sum += float64(g[i*n+j]) * float64(s.Factor[i*n+j])
				}
			}
			return sum
		}
		gradient := s.ProductGradient(ref.Backend{}, g, b0)
		for k, got := range gradient {
			const h = 1e-2 // the value is quadratic, so central differences are exact
			at := b0[k]
			b0[k] = at + h
			up := value()
			b0[k] = at - h
			down := value()
			b0[k] = at
			if numeric := (up - down) / (2 * h); math.Abs(numeric-float64(got)) > 1e-2 {
				t.Errorf("%d columns, entry %d of B0: got derivative %g, want %g", n, k, got, numeric)
			}
		}
	}
}
