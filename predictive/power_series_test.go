package predictive

import (
	"fmt"
	"math"
	"testing"
)

// splitIntegral returns E[f(t)] for t ~ N(0, 1), by Simpson's rule on either side of z,
// where f or its derivatives may jump.
func splitIntegral(z float64, f func(t float64) float64) (sum float64) {
	z = min(max(z, -10), 10)
	for _, part := range [][2]float64{{-10, z}, {z, 10}} {
		const n = 4000
		h := (part[1] - part[0]) / n
		for i := range n + 1 {
			w := 2 + 2*float64(i%2)
			if i == 0 || i == n {
				w = 1
			}
			t := part[0] + float64(i)*h
			sum += w * h / 3 * normalDensity(t) * f(t)
		}
	}
	return sum
}

// TestPowerSeries compares the moments by Taylor polynomials with integrals: mean and
// variance agree to 1e-9, the share of the model to 1e-8 of the variance.
func TestPowerSeries(t *testing.T) {
	t.Parallel()
	series := 0
	for _, p := range []float64{0, 0.05, 0.12, 0.2, 0.33, 0.5, 0.8} {
		for _, m := range []float64{-0.5, -0.05, 0, 0.3, 1, 2.5, 6, 20} {
			for _, v := range [][2]float64{{0.001, 0.004}, {0.05, 0.2}, {0.3, 0.1}, {0.4, 0}, {0, 0.25}} {
				for _, clamped := range []bool{false, true} {
					d := Gaussian(Power(p, 2.5), m, v[0], v[1])
					if clamped {
						d = d.NonNegative()
					}
					x := d.powerTaylor()
					if x == nil {
						continue
					}
					series++
					what := fmt.Sprintf("power %g, m %g, variances %v, clamped %v", p, m, v, clamped)
					z := -m / d.sd
					value := func(t float64) float64 { return d.fromScore(t) }
					mean := splitIntegral(z, value)
					total := splitIntegral(z, func(t float64) float64 { return (value(t) - mean) * (value(t) - mean) })
					sd := math.Sqrt(total)
					odd := splitIntegral(z, func(t float64) float64 { return d.transform.Inverse(m + d.sd*t) })
					checkNear(t, what+": mean", x.mean(2.5), odd, 1e-9*(sd+math.Abs(odd)))
					if mean, ok := d.polynomialMean(); ok && mean != x.mean(2.5) {
						t.Errorf("%s: the mean of the polynomial is %v, want %v", what, mean, x.mean(2.5))
					}
					model, noise := x.variances(&d)
					checkNear(t, what+": variance", model+noise, total, 1e-9*total)
					// Hermite coefficients by integrals.
					rho, share, want, rest := v[0]/(v[0]+v[1]), 1.0, 0.0, total
					for k := 1; k < hermiteTerms; k++ {
						c := splitIntegral(z, func(t float64) float64 {
							before, now := 0.0, 1.0
							for j := range k {
								before, now = now, (t*now-math.Sqrt(float64(j))*before)/math.Sqrt(float64(j+1))
							}
							return now * (value(t) - mean)
						})
						share *= rho
						want += share * c * c
						rest -= c * c
						if share*rest < 1e-10*total {
							break
						}
					}
					want += share * rho * max(rest, 0)
					checkNear(t, what+": variance of E[y|f]", model, want, 1e-8*total)
				}
			}
		}
	}
	if series < 300 {
		t.Errorf("%d of 480 distributions have a series, want most of them", series)
	}
}

// TestSeriesVariance compares the variance under empirical scores with the sum over all
// nodes: they agree to 1e-7.
func TestSeriesVariance(t *testing.T) {
	t.Parallel()
	series, all := 0, 0
	for _, scores := range []*ScoreDistribution{skewedScores(500), skewedScores(20000)} {
		for _, transform := range []Transform{Log1p, Power(0, 3), Power(0.12, 3), Power(0.4, 3)} {
			for _, m := range []float64{0.1, 0.5, 1, 2, 5} {
				for _, sd := range []float64{0.01, 0.1, 0.3, 0.6} {
					for _, clamped := range []bool{false, true} {
						d := Gaussian(transform, m, sd*sd/3, 2*sd*sd/3).WithScores(scores)
						if clamped {
							d = d.NonNegative()
						}
						all++
						got, ok := d.seriesVariance()
						if !ok {
							continue
						}
						series++
						first, second := nodeMoments(d, scores)
						want := second - first*first
						checkNear(t, fmt.Sprintf("%v, m %g, sd %g, clamped %v", transform, m, sd, clamped), got, want, 1e-7*want)
					}
				}
			}
		}
	}
	if 2*series < all {
		t.Errorf("%d of %d distributions have a series, want most of them", series, all)
	}
}

// TestNormalTable compares the table with erfc and exp.
func TestNormalTable(t *testing.T) {
	t.Parallel()
	for x := -9.0; x < 9; x += 0.00137 {
		cdf, density := normal(x)
		checkNear(t, fmt.Sprintf("cdf at %g", x), cdf, normalCDF(x), 1e-12*normalCDF(x))
		checkNear(t, fmt.Sprintf("density at %g", x), density, normalDensity(x), 1e-12*normalDensity(x))
	}
	if cdf, density := normal(math.NaN()); cdf == cdf || density == density {
		t.Errorf("at NaN: got %g and %g", cdf, density)
	}
}
