package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

var powers = []float64{0, 0.05, 0.2, 1.0 / 3, 0.5, 0.8, 1}

// TestPowerMoments compares mean and standard deviations with fine sums.
func TestPowerMoments(t *testing.T) {
	t.Parallel()
	expect := func(f func(t float64) float64) (sum float64) {
		const n = 2000
		for i := range n + 1 {
			at := 18*float64(i)/n - 9
			sum += 18.0 / n * normalDensity(at) * f(at)
		}
		return sum
	}
	for _, p := range powers {
		for _, m := range []float64{-2, -0.03, 0, 0.4, 1.31, 3, 12} {
			for _, v := range []struct{ model, noise float64 }{{0.1, 0.3}, {1, 0.2}, {0.2, 0}, {0, 0.5}} {
				f := targetscale.Power(p, 2.5)
				d := Gaussian(f, m, v.model, v.noise)
				mean := expect(func(t float64) float64 { return f.Inverse(m + d.sd*t) })
				if got := d.Mean(); math.Abs(got-mean) > 2e-5*(1+math.Abs(mean)) {
					t.Errorf("%v, m %g, variances %v: the mean is %.9g, want %.9g", f, m, v, got, mean)
				}
				for _, d := range []Distribution{d, d.NonNegative()} {
					value := func(t float64) float64 { return d.fromScore(t) }
					first := expect(value)
					total := expect(func(t float64) float64 { return (value(t) - first) * (value(t) - first) })
					got := d.Moments()
					if want := math.Sqrt(total); math.Abs(got.SD-want) > 1e-3*want+1e-5 {
						t.Errorf("%v, m %g, variances %v, clamped %v: sd %.6g, want %.6g", f, m, v, d.clamped, got.SD, want)
					}
					if math.Abs(math.Hypot(got.SDModel, got.SDNoise)-got.SD) > 1e-9*got.SD || v.model == 0 && got.SDModel != 0 || v.noise == 0 && got.SDNoise != 0 {
						t.Errorf("%v, m %g, variances %v: sd %g has parts %g and %g", f, m, v, got.SD, got.SDModel, got.SDNoise)
					}
				}
			}
		}
	}
	// The parts of the variance, by draws of f.
	rng := randstream.New(1, "parts")
	for _, clamped := range []bool{false, true} {
		d := Gaussian(targetscale.Power(0.3, 1), 0.5, 0.6, 0.4)
		if clamped {
			d = d.NonNegative()
		}
		const n = 4000
		var sum, squares float64
		for range n {
			m, given := 0.5+math.Sqrt(0.6)*rng.NormFloat64(), 0.0
			for i, at := range nodeT {
				y := d.transform.Inverse(m + math.Sqrt(0.4)*at)
				if clamped {
					y = max(y, 0)
				}
				given += nodeWeight[i] * y
			}
			sum += given / n
			squares += given * given / n
		}
		if got, want := d.Moments().SDModel, math.Sqrt(squares-sum*sum); math.Abs(got-want) > 0.05*want {
			t.Errorf("clamped %v: the standard deviation of E[y|f] is %g, by draws %g", clamped, got, want)
		}
	}
}

// TestPowerIsRootScale checks that a power of 1/3 in the unit 1 describes non-negative
// targets as cbrt1p does.
func TestPowerIsRootScale(t *testing.T) {
	t.Parallel()
	for _, m := range []float64{0.9, 1.5, 3} {
		for _, scores := range []*ScoreDistribution{nil, skewedScores(999)} {
			root := Gaussian(targetscale.Cbrt1p, m, 0.05, 0.1).NonNegative().WithScores(scores)
			p := Gaussian(targetscale.Power(1.0/3, 1), 3*(m-1), 9*0.05, 9*0.1).NonNegative().WithScores(scores)
			for _, y := range []float64{0, 0.4, 1, 7, 40} {
				a, b := root.Evaluate(y), p.Evaluate(y)
				for i := range a.Quantiles {
					if math.Abs(a.Quantiles[i]-b.Quantiles[i]) > 1e-9 {
						t.Errorf("m %g: quantiles %v, want %v", m, b.Quantiles, a.Quantiles)
					}
				}
				if math.Abs(a.CRPS-b.CRPS) > 1e-9 || math.Abs(a.LogDensity-b.LogDensity) > 1e-9 || math.Abs(a.UpTo-b.UpTo) > 1e-12 || math.Abs(a.Below-b.Below) > 1e-12 {
					t.Errorf("m %g, y %g: %+v, want %+v", m, y, b, a)
				}
			}
		}
	}
}

// TestPowerDensity checks that the density is the derivative of the distribution function
// and that CRPS agrees with its definition, with negative values.
func TestPowerDensity(t *testing.T) {
	t.Parallel()
	for _, p := range powers {
		d := Gaussian(targetscale.Power(p, 0.5), 0.7, 0.4, 1.1)
		for _, y := range []float64{-4, -0.3, 0.2, 3, 9} {
			slope := (d.CDF(y+1e-6) - d.CDF(y-1e-6)) / 2e-6
			if got := d.Density(y); math.Abs(got-slope) > 1e-6 {
				t.Errorf("power %g: the density at %g is %g, the slope of the distribution function %g", p, y, got, slope)
			}
			const n = 20_000
			sum := 0.0
			for i := range n {
				q := (float64(i) + 0.5) / n
				x := d.Quantile(q)
				side := -q
				if y < x {
					side = 1 - q
				}
				sum += 2 * side * (x - y) / n
			}
			if got := d.CRPS(y); math.Abs(got-sum) > 2e-3*(sum+1) {
				t.Errorf("power %g: the CRPS of %g is %g, want %g", p, y, got, sum)
			}
		}
	}
}
