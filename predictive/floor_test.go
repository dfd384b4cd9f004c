package predictive

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// clampedCases returns non-negative distributions on all scales, with normal and with
// empirical scores.
func clampedCases() map[string]Distribution {
	all := map[string]Distribution{}
	for _, t := range []targetscale.Transform{targetscale.Identity, targetscale.Log1p, targetscale.Cbrt1p} {
		for _, m := range []float64{-0.5, 0.3, 1.2, 2.5} {
			d := Gaussian(t, m, 0.2, 0.6).NonNegative()
			all[fmt.Sprintf("%v %g normal", t, m)] = d
			all[fmt.Sprintf("%v %g empirical", t, m)] = d.WithScores(skewedScores(999))
		}
	}
	return all
}

// TestNonNegative compares quantiles, probabilities, moments and CRPS of non-negative
// distributions with sums over the same distribution without a bound.
func TestNonNegative(t *testing.T) {
	t.Parallel()
	for name, d := range clampedCases() {
		free := d.Unclamped()
		const n = 20_000
		sum, squares := 0.0, 0.0
		for i := range n {
			v := max(free.Quantile((float64(i)+0.5)/n), 0)
			sum += v / n
			squares += v * v / n
		}
		for _, p := range []float64{0.001, 0.05, 0.3, 0.5, 0.9} {
			if got, want := d.Quantile(p), max(free.Quantile(p), 0); got != want {
				t.Errorf("%s: the quantile at %g is %g, want %g", name, p, got, want)
			}
		}
		if below, upTo := d.CDFLimits(0); below != 0 || upTo != free.CDF(0) || d.CDF(-0.1) != 0 || d.CDF(0.7) != free.CDF(0.7) {
			t.Errorf("%s: probabilities at 0 are %g and %g, at -0.1 %g, at 0.7 %g", name, below, upTo, d.CDF(-0.1), d.CDF(0.7))
		}
		if got := d.Density(0); math.Abs(got-free.CDF(0)) > 1e-12 || d.Density(-0.1) != 0 || d.Density(0.7) != free.Density(0.7) {
			t.Errorf("%s: the densities at 0, -0.1 and 0.7 are %g, %g and %g", name, got, d.Density(-0.1), d.Density(0.7))
		}
		all := d.Moments()
		if want := math.Sqrt(squares - sum*sum); math.Abs(all.SD-want) > 0.03*want { // the skewed scores have a long tail
			t.Errorf("%s: sd is %.5g, want %.5g", name, all.SD, want)
		}
		if parts := math.Hypot(all.SDModel, all.SDNoise); math.Abs(parts-all.SD) > 1e-9 {
			t.Errorf("%s: the parts of the sd give %g, want %g", name, parts, all.SD)
		}
		lost := 0.0 // the integral of the squared CDF up to 0
		for low, i := free.Quantile(1e-9), 0; i < n; i++ {
			f := free.CDF(low * (float64(i) + 0.5) / n)
			lost -= min(low, 0) / n * f * f
		}
		for _, y := range []float64{-1, 0, 0.2, 1, 4} {
			want := free.CRPS(max(y, 0)) - lost - min(y, 0)
			if got := d.CRPS(y); math.Abs(got-want) > 2e-3*(want+1) {
				t.Errorf("%s: the CRPS of %g is %.6g, want %.6g", name, y, got, want)
			}
		}
	}
}

// TestNonNegativeMean checks that the mean is that of the distribution without a bound,
// or 0, and that a bound that is far away changes nothing.
func TestNonNegativeMean(t *testing.T) {
	t.Parallel()
	for name, d := range clampedCases() {
		if got, want := d.Mean(), max(d.Unclamped().Mean(), 0); got != want || d.Moments().Mean != want {
			t.Errorf("%s: the mean is %g, want %g", name, got, want)
		}
	}
	if far, free := Gaussian(targetscale.Log1p, 9, 0.2, 0.6).NonNegative(), Gaussian(targetscale.Log1p, 9, 0.2, 0.6); far.CRPS(3) != free.CRPS(3) || far.SD() != free.SD() {
		t.Error("a bound that is far away changes the distribution")
	}
}
