package likelihood

import (
	"math"
	"testing"
)

// The quadrature of a truncated count, by the table of its size, agrees with a fine one for all widths.
func TestTruncation(t *testing.T) {
	t.Parallel()
	for _, size := range []float64{0.05, 0.3, 1, 5, 100} {
		at := truncations(size)
		for m := -8.0; m < 8; m += 0.37 {
			for _, sd := range []float64{0, 0.05, 0.2, 0.21, 0.3, 0.4, 0.41, 0.7, 1, 1.5, 3} {
				got := truncation(size, m, sd*sd, at)
				want, total := Expectation{}, 0.0
				const step = 0.02
				for z := -8.0; z <= 8; z += step {
					w, psi := math.Exp(-z*z/2), m+sd*z-math.Log(size)
					some := -math.Expm1(-size * logOnePlusExp(psi))
					s, zeros := 1/(1+math.Exp(-psi)), (1-some)/some
					total += w
					want.Value -= w * math.Log(some)
					want.ByMean -= w * size * s * zeros
					want.ByVariance += w * (size*s*size*s*zeros*(1+zeros) - size*s*(1-s)*zeros) / 2
				}
				for name, d := range map[string]float64{"value": got.Value - want.Value/total, "derivative by the mean": got.ByMean - want.ByMean/total, "derivative by the variance": got.ByVariance - want.ByVariance/total} {
					if math.Abs(d) > 1e-6 {
						t.Fatalf("size %g, mean %g, sd %g: the %s is off by %g", size, m, sd, name, d)
					}
				}
			}
		}
	}
}

// A table of a size agrees with the function, beyond its ends too.
func TestTruncationTable(t *testing.T) {
	t.Parallel()
	worst := [3]float64{}
	for _, size := range []float64{MinSize, 0.05, 1, 30, 1e4, MaxSize} {
		at := truncations(size)
		for psi := -33.0; psi < 33; psi += 0.0037 {
			for k, want := range truncationAt(size, psi) {
				worst[k] = max(worst[k], math.Abs(at(psi)[k]-want))
			}
		}
	}
	if t.Logf("largest errors %.2g", worst); worst[0] > 1e-7 || worst[1] > 1e-6 || worst[2] > 1e-6 {
		t.Errorf("largest errors %.2g", worst)
	}
}
