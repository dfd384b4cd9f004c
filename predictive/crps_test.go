package predictive

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// integratedCRPS integrates (F - 1{y <= x})^2 over x.
func integratedCRPS(d Distribution, y float64) float64 {
	if d.count != nil {
		sum := 0.0
		for x := 0.0; x < 1e6; x++ {
			f := d.CDF(x)
			if y <= x {
				f--
			}
			sum += f * f
			if x > y && f > -1e-7 {
				break
			}
		}
		return sum
	}
	low, high := min(y, d.Quantile(1e-9)), max(y, d.Quantile(1-1e-9))
	const n = 100000
	sum := 0.0
	for i := range n {
		// Cubed steps reach the long tail and are fine where the mass is.
		a, b := float64(i)/n, float64(i+1)/n
		x := low + (high-low)*math.Pow((a+b)/2, 3)
		f := d.CDF(x)
		if y <= x {
			f--
		}
		sum += f * f * (high - low) * (b*b*b - a*a*a)
	}
	return sum
}

func TestCRPSAgainstIntegral(t *testing.T) {
	t.Parallel()
	for _, c := range testCases() {
		if strings.Contains(c.name, "large") && testing.Short() {
			continue
		}
		for _, level := range []float64{.03, .6, .999} {
			y := c.d.Quantile(level)
			if c.d.count != nil && (c.d.scores.n > 0 || y > 100) {
				continue // see TestCountCRPSAgainstQuantiles
			}
			want := integratedCRPS(c.d, y)
			tolerance := 1e-4 * want
			switch {
			case c.name == "log1p wide, skewed", c.name == "cbrt1p near its bound, skewed":
				tolerance = 0.02 * want // values of exp(12), or 3000, have probability 1e-4
			case c.d.scores.n > 0:
				tolerance = 2e-3 * want
			case c.d.count != nil:
				tolerance = 2e-3 * want // linear between grid points
			}
			checkNear(t, c.name+" CRPS", c.d.CRPS(y), want, tolerance+1e-6)
		}
	}
}

// TestCountCRPSAgainstQuantiles compares the CRPS of counts, including large ones
// whose grid has gaps, with the mean pinball loss of quantiles at equidistant levels.
func TestCountCRPSAgainstQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range testCases() {
		if c.d.count == nil {
			continue
		}
		const n = 2000
		levels, q := make([]float64, n), make([]float64, n)
		for i := range levels {
			levels[i] = (float64(i) + 0.5) / n
		}
		c.d.Quantiles(q, levels)
		for _, y := range []float64{q[n/20], q[n*7/10], q[n-1]} {
			want := 0.0
			for i, level := range levels {
				want += 2 * max(level*(y-q[i]), (1-level)*(q[i]-y)) / n
			}
			checkNear(t, c.name+" CRPS", c.d.CRPS(y), want, 0.01*want)
		}
	}
}

func TestQuadratureAgreesWithClosedForms(t *testing.T) {
	t.Parallel()
	for _, d := range []Distribution{Gaussian(targetscale.Identity, 3, .5, 2), Gaussian(targetscale.Log1p, 2, .1, .4), Gaussian(targetscale.Log1p, 1, .9, .6)} {
		for _, level := range []float64{1e-4, .1, .37, .5, .9, .9999} {
			z := normalQuantile(level)
			y := d.fromScore(z)
			checkNear(t, d.transform.String()+" CRPS", d.quadratureCRPS(y, z), d.CRPS(y), 2e-4*d.CRPS(y))
		}
		checkNear(t, d.transform.String()+" variance", d.empiricalVariance(0), d.SD()*d.SD(), 1e-2*d.SD()*d.SD())
	}
}
