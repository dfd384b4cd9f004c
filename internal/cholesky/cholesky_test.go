package cholesky

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFactorSolveInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 7, 30} {
		a := make([]float64, n*n)
		half := make([]float64, n*n)
		for i := range half {
			half[i] = rng.NormFloat64()
		}
		for i := range n {
			for j := range n {
				for k := range n {
					a[i*n+j] += half[i*n+k] * half[j*n+k]
				}
			}
			a[i*n+i] += 0.1
		}
		l := append([]float64(nil), a...)
		if !Factor(l, n) {
			t.Fatalf("n = %d: got not positive definite", n)
		}
		x, b := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := range n {
			for j := range n {
				b[i] += a[i*n+j] * x[j]
			}
		}
		Solve(l, n, b)
		inverse := make([]float64, n*n)
		Inverse(l, n, inverse)
		for i := range n {
			if math.Abs(b[i]-x[i]) > 1e-7 {
				t.Errorf("n = %d: x[%d]: got %g, want %g", n, i, b[i], x[i])
			}
			one := 0.0
			for k := range n {
				one += a[i*n+k] * inverse[k*n+i]
			}
			if math.Abs(one-1) > 1e-7 {
				t.Errorf("n = %d: diagonal entry %d of A times its inverse: got %g, want 1", n, i, one)
			}
		}
	}
	if Factor([]float64{1, 2, 2, 1}, 2) {
		t.Error("an indefinite matrix was factored")
	}
}
