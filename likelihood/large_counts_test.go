package likelihood

import (
	"math"
	"testing"
)

// TestLargeCounts checks that the approximations for large counts continue the
// exact formulas.
func TestLargeCounts(t *testing.T) {
	t.Parallel()
	const y = 2 * large
	for _, size := range []float64{0.3, 1, 3, 100, 1e5, 1e8} {
		n := NegativeBinomial{Size: size}
		sd := math.Sqrt(1/y + 1/size)
		for _, score := range []float64{-3, -1, 0, 0.5, 2, 4} {
			mean := y * math.Exp(-score*sd)
			got, want := n.CDF(y, math.Log(mean)), incompleteBeta(size, y+1, mean/size)
			if math.Abs(got-want) > 1e-4 {
				t.Errorf("size %g, mean %g: got %.7f, want %.7f", size, mean, got, want)
			}
		}
	}
	for _, score := range []float64{-4, -1, 0, 1, 4} {
		a := large * (1 + 1e-9)
		x := a + score*math.Sqrt(a)
		if got, want := upperGamma(a, x), upperGamma(large, x); math.Abs(got-want) > 1e-5 {
			t.Errorf("Q(%g, %g): got %.7f above the limit, want %.7f as below it", a, x, got, want)
		}
	}
}

// TestHugeCounts checks that huge counts and rates give probabilities in
// bounded time.
func TestHugeCounts(t *testing.T) {
	t.Parallel()
	for _, y := range []float64{1e9, 1e15, 1e30, math.MaxFloat64} {
		for _, f := range []float64{-800, 0, 20, 60, 700} {
			for _, p := range []float64{Poisson{}.CDF(y, f), NegativeBinomial{Size: 2}.CDF(y, f)} {
				if !(p >= 0 && p <= 1) {
					t.Errorf("P(Y <= %g | %g) = %g, want a probability", y, f, p)
				}
				if math.Log(y) > f+50 && p < 0.999999 {
					t.Errorf("P(Y <= %g | %g) = %g, want nearly 1", y, f, p)
				}
			}
		}
	}
}
