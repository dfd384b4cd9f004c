package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestSmoothVariance compares the series with the integral over f, for means on both
// sides of the bound and shares of the model up to the limit.
func TestSmoothVariance(t *testing.T) {
	t.Parallel()
	const step = 1.0 / 32
	for _, transform := range []targetscale.Transform{targetscale.Identity, targetscale.Log1p, targetscale.Sqrt, targetscale.Cbrt1p} {
		for _, clamped := range []bool{false, true} {
			if !clamped && (transform == targetscale.Identity || transform == targetscale.Log1p) || clamped && transform == targetscale.Sqrt {
				continue // no bound, or the same function
			}
			for _, s := range []float64{0.1, 0.5, 2} {
				for _, score := range []float64{-5, -1, 0, 0.3, 2, 6} {
					for _, share := range []float64{0.001, 0.1, 0.4, maxSeries} {
						d := Gaussian(transform, 0, s*s*share, s*s*(1-share))
						d.clamped = clamped
						r := d.rectified()
						d.m = r.bound + score*s
						mean, variance := 0.0, 0.0
						for pass := range 2 {
							for at := -14.0; at <= 14; at += step {
								weight := step * normalDensity(at)
								m := d.m + math.Sqrt(d.model)*at
								given, _ := rectifiedMoments(m, d.noise, map[targetscale.Kind]int{targetscale.KindSqrt: 2, targetscale.KindCbrt1p: 3}[transform.Kind()])
								if clamped {
									given, _ = clampedMoments(transform, m, d.noise)
								}
								if pass == 0 {
									mean += weight * given
								} else {
									variance += weight * (given - mean) * (given - mean)
								}
							}
						}
						got := r.smoothVariance(d.m, d.model, d.model+d.noise, normalCDF(score), normalDensity(score))
						if math.Abs(got-variance) > 1e-6*variance+1e-30 {
							t.Errorf("%v, clamped %v, sd %g, score %g, share %g: %.9g, by quadrature %.9g", transform, clamped, s, score, share, got, variance)
						}
					}
				}
			}
		}
	}
}

// TestVariancesWithoutSpread checks that a distribution without variance has none.
func TestVariancesWithoutSpread(t *testing.T) {
	t.Parallel()
	for _, transform := range []targetscale.Transform{targetscale.Identity, targetscale.Log1p, targetscale.Sqrt, targetscale.Cbrt1p} {
		for _, m := range []float64{-1, 0, 1e-12, 2} {
			for _, d := range []Distribution{Gaussian(transform, m, 0, 0), Gaussian(transform, m, 0, 0).NonNegative()} {
				if got := d.Moments(); !(got.SDModel >= 0 && got.SDModel < 1e-6 && got.SDNoise >= 0 && got.SDNoise < 1e-6) {
					t.Errorf("%v at %g: %+v", transform, m, got)
				}
			}
		}
	}
}
