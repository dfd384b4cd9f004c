package predictive

import (
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

func TestQuantilesInvertCDF(t *testing.T) {
	t.Parallel()
	rng := randstream.New(1, "levels")
	for _, c := range testCases() {
		levels := []float64{1e-6, 1e-4, .05, .25, .5, .75, .95, 1 - 1e-4}
		for range 60 {
			levels = append(levels, rng.Float64())
		}
		slices.Sort(levels)
		q := make([]float64, len(levels))
		c.d.Quantiles(q, levels)
		for i, level := range levels {
			if one := c.d.Quantile(level); q[i] != one {
				t.Fatalf("%s: at level %g Quantiles gives %g, Quantile gives %g", c.name, level, q[i], one)
			}
			if i > 0 && q[i] < q[i-1] {
				t.Errorf("%s: quantiles cross: %g at level %g, %g at level %g", c.name, q[i-1], levels[i-1], q[i], level)
			}
			below, upTo := c.d.CDFLimits(q[i])
			if !(below <= level+1e-6 && upTo >= level-1e-6) {
				t.Errorf("%s: got CDF limits %g and %g at the quantile %g, want them around %g", c.name, below, upTo, q[i], level)
			}
			mass := c.d.count != nil || q[i] == c.d.transform.LowerBound() || c.d.scores.n > 0
			if !mass && math.Abs(upTo-below) > 1e-12 {
				t.Errorf("%s: got probability %g at %g, want 0", c.name, upTo-below, q[i])
			}
		}
	}
}

func TestQuantilesOfRandomDistributionsDoNotCross(t *testing.T) {
	t.Parallel()
	rng := randstream.New(2, "random")
	scores := []*ScoreDistribution{nil, skewedScores(19), skewedScores(200), skewedScores(5000)}
	for range 2000 {
		m, model, noise := 3*rng.NormFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
		s := scores[rng.IntN(len(scores))]
		a, b := rng.Float64(), rng.Float64()
		a, b = min(a, b), max(a, b)
		for _, transform := range []targetscale.Transform{targetscale.Identity, targetscale.Log1p, targetscale.Sqrt, targetscale.Cbrt1p} {
			d := Gaussian(transform, m, model, noise).WithScores(s)
			if low, high := d.Quantile(a), d.Quantile(b); low > high {
				t.Fatalf("%v, m %g: quantiles cross: %g at level %g, %g at level %g", transform, m, low, a, high, b)
			}
		}
	}
}

// TestDrawsAgree compares mean, variance and quantiles with draws of the same
// distribution.
func TestDrawsAgree(t *testing.T) {
	t.Parallel()
	for _, c := range testCases() {
		n := 200000
		if c.d.count != nil {
			n = 600 // a draw is a quantile, which fills a grid
		}
		rng := randstream.New(5, "draws")
		y := make([]float64, n)
		var sum, squares float64
		for i := range y {
			y[i] = c.d.Draw(rng)
			sum += y[i]
		}
		mean := sum / float64(n)
		var fourth float64
		for _, v := range y {
			deviation := v - mean
			squares += deviation * deviation
			fourth += deviation * deviation * deviation * deviation
		}
		variance := squares / float64(n)
		root := math.Sqrt(float64(n))
		if c.d.scores.n == 0 { // empirical scores do not change the mean
			checkNear(t, c.name+" mean", c.d.Mean(), mean, 4*math.Sqrt(variance)/root)
		}
		// The standard error of the variance, estimated from the draws.
		errVar := math.Sqrt(max(fourth/float64(n)-variance*variance, 0)) / root
		checkNear(t, c.name+" variance", c.d.SD()*c.d.SD(), variance, 5*errVar)
		slices.Sort(y)
		for _, level := range []float64{.05, .5, .9} {
			q := c.d.Quantile(level)
			upTo := shareUpTo(y, q)
			below := shareUpTo(y, math.Nextafter(q, math.Inf(-1)))
			bound := 4 * math.Sqrt(level*(1-level)) / root
			if upTo < level-bound || below > level+bound {
				t.Errorf("%s: got shares of draws %g below and %g up to the quantile %g, want them around %g", c.name, below, upTo, q, level)
			}
		}
		checkNear(t, c.name+" median", c.d.Median(), c.d.Quantile(.5), 0)
	}
}

func shareUpTo(sorted []float64, y float64) float64 {
	k, _ := slices.BinarySearch(sorted, math.Nextafter(y, math.Inf(1)))
	return float64(k) / float64(len(sorted))
}

func TestDensityIsDerivativeOfCDF(t *testing.T) {
	t.Parallel()
	for _, c := range append(testCases(), extremeCounts()...) {
		if c.d.count != nil {
			for y := 0.0; y < 10000; y = math.Ceil(1.3*y + 0.1) {
				below, upTo := c.d.CDFLimits(y)
				checkNear(t, c.name+" probability", c.d.Density(y), upTo-below, 5e-4*(upTo-below)+3e-6)
			}
			continue
		}
		// The integral of the density over the central 98 %. The density of empirical
		// scores is smoothed, so it agrees only approximately.
		low, high := c.d.Quantile(.01), c.d.Quantile(.99)
		const n = 20000
		sum := 0.0
		for i := range n {
			sum += c.d.Density(low + (high-low)*(float64(i)+0.5)/n)
		}
		want, tolerance := c.d.CDF(high)-c.d.CDF(low), 1e-4
		if c.d.scores.n > 0 {
			tolerance = 0.03
		}
		switch bound := c.d.transform.LowerBound(); {
		case low != bound:
		case c.d.transform == targetscale.Sqrt:
			tolerance += 4e-3 // the density has a pole at the lower bound
		default:
			tolerance += 0.02 // and here one of higher order
		}
		checkNear(t, c.name+" integral", sum*(high-low)/n, want, tolerance)
		checkNear(t, c.name+" log", math.Exp(c.d.LogDensity(low+1)), c.d.Density(low+1), 1e-12)
	}
}

func TestDensityAtBound(t *testing.T) {
	t.Parallel()
	checkNear(t, "sqrt, probability of 0", Gaussian(targetscale.Sqrt, .3, .4, .3).Density(0), normalCDF(-.3/math.Sqrt(.7)), 1e-12)
	// -100^2/4 - log(sqrt(2 pi) 100/sqrt 2)
	checkNear(t, "cbrt1p, log probability of -1 far away", Gaussian(targetscale.Cbrt1p, 100, 1, 1).LogDensity(-1), -2505.2, 0.1)
	if got := Gaussian(targetscale.Log1p, 1, 1, 1).LogDensity(-1); !math.IsInf(got, -1) {
		t.Errorf("log1p, log density at -1: got %g, want -Inf", got)
	}
}

func TestEvaluateAgreesWithMethods(t *testing.T) {
	t.Parallel()
	for _, c := range append(testCases(), extremeCounts()...) {
		y := c.d.Quantile(.8)
		got := c.d.Evaluate(y)
		below, upTo := c.d.CDFLimits(y)
		want := Evaluation{Below: below, UpTo: upTo, CRPS: c.d.CRPS(y), LogDensity: c.d.LogDensity(y)}
		c.d.Quantiles(want.Quantiles[:], SummaryLevels[:])
		checkNear(t, c.name+" below", got.Below, want.Below, 2e-6)
		checkNear(t, c.name+" up to", got.UpTo, want.UpTo, 2e-6)
		if limits := [2]float64{got.Below, got.UpTo}; got.Limits != limits {
			t.Errorf("%s: limits %v, want %v", c.name, got.Limits, limits)
		}
		got.Below, got.UpTo, got.Limits = want.Below, want.UpTo, want.Limits
		if got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
		if got, want := got.PIT(1, 2), c.d.PIT(y, 1, 2); got != want {
			t.Errorf("%s: got PIT %g, want %g", c.name, got, want)
		}
	}
}

func BenchmarkQuantiles(b *testing.B) {
	for _, c := range testCases() {
		b.Run(c.name, func(b *testing.B) {
			q := make([]float64, len(SummaryLevels))
			for b.Loop() {
				c.d.Quantiles(q, SummaryLevels[:])
			}
		})
	}
}
