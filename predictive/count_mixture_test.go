package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// TestMixtureAgainstSum compares the grid and the CDF with a fine sum over f.
func TestMixtureAgainstSum(t *testing.T) {
	t.Parallel()
	for _, c := range append(testCases(), extremeCounts()...) {
		d := c.d
		if d.count == nil || d.scores.n > 0 {
			continue
		}
		summed := func(y float64) float64 {
			const n = 4000
			sum, total := 0.0, 0.0
			for i := range n {
				z := -8 + 16*(float64(i)+0.5)/n
				w := normalDensity(z)
				total += w
				sum += w * d.count.CDF(y, d.m+d.sd*z)
			}
			return sum / total
		}
		var g countGrid
		d.fillGrid(&g)
		for k := 0; k < g.n; k += 1 + g.n/12 {
			want := summed(g.y[k])
			tolerance := 1e-6
			if g.y[k] >= denseCounts {
				tolerance = 1e-4 // interpolated between anchors
			}
			checkNear(t, c.name+" grid", g.level[k], want, tolerance)
			checkNear(t, c.name+" CDF", d.CDF(g.y[k]), want, 1e-6)
		}
	}
}

// TestExtremeRates checks that quantiles are ordered and bounded, and the CRPS is
// defined, for a distribution of f that is very wide or far away.
func TestExtremeRates(t *testing.T) {
	t.Parallel()
	for _, given := range []CountDistribution{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: 60}, likelihood.ZeroInflated{Zero: 0.4, Size: 60}, likelihood.Hurdle{Size: 60, Slope: 1}} {
		for _, f := range []struct{ mean, variance float64 }{
			{21, 154}, {-26, 70}, {33, 1}, {300, 1}, {800, 4}, {-800, 4}, {0, 1e4},
		} {
			d := CountMixture(given, f.mean, f.variance)
			var q [5]float64
			d.Quantiles(q[:], []float64{.001, .05, .5, .95, .999})
			last := 0.0
			for _, v := range q {
				if !(v >= last && v < 2e15) {
					t.Errorf("%T, f ~ N(%g, %g): got quantiles %g, want them increasing and below 2e15", given, f.mean, f.variance, q)
					break
				}
				last = v
			}
			if crps := d.CRPS(3); math.IsNaN(crps) || crps < 0 {
				t.Errorf("%T, f ~ N(%g, %g): got CRPS %g, want 0 or more", given, f.mean, f.variance, crps)
			}
		}
	}
}

// TestCountMomentsAgainstAllNodes compares the moments with sums over all nodes. Those of a variance
// above 1 have parts beyond the nodes, of which only the mean has hardly any.
func TestCountMomentsAgainstAllNodes(t *testing.T) {
	t.Parallel()
	for _, given := range []CountDistribution{
		likelihood.NegativeBinomial{Size: 0.3}, likelihood.Hurdle{Size: 0.05, Shift: -1, Slope: 1.1}, likelihood.Hurdle{Size: 40, Shift: 1, Slope: 0.4},
		likelihood.ZeroInflated{Size: 2, Zero: 0.3},
	} {
		for _, m := range []float64{-6, -2, 0, 3} {
			for _, v := range []float64{0.01, 0.49, 0.9, 1.5, 3.9} {
				d := CountMixture(given, m, v)
				var mean, square, noise float64
				for i, node := range nodeT {
					f, w := d.m+d.sd*node, nodeWeight[i]/nodeTotal
					mu := given.Mean(f)
					mean, square, noise = mean+w*mu, square+w*mu*mu, noise+w*given.Var(f)
				}
				gotMean, gotModel, gotNoise := d.countMoments()
				moments := [][2]float64{{gotMean, mean}, {gotModel, square - mean*mean}, {gotNoise, noise}}
				if v > 1 {
					moments = moments[:1]
				}
				for k, c := range moments {
					if difference := math.Abs(c[0]/c[1] - 1); !(difference < []float64{1e-4, 1e-3, 1e-3}[k]) {
						t.Errorf("%#v m %g v %g: moment %d is %g, all nodes %g, off by %.2g", given, m, v, k, c[0], c[1], difference)
					}
				}
			}
		}
	}
}
