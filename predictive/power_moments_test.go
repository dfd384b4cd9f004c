package predictive

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// splitNodes returns nodes and weights of Simpson's rule for E[f(t)] with t ~ N(0, 1) on either
// side of z, where f or its derivatives may jump.
func splitNodes(z float64) (nodes, weights []float64) {
	z = min(max(z, -10), 10)
	for _, part := range [][2]float64{{-10, z}, {z, 10}} {
		const n = 3000
		h := (part[1] - part[0]) / n
		for i := range n + 1 {
			w := 2 + 2*float64(i%2)
			if i == 0 || i == n {
				w = 1
			}
			t := part[0] + float64(i)*h
			nodes, weights = append(nodes, t), append(weights, w*h/3*normalDensity(t))
		}
	}
	return nodes, weights
}

// TestPowerExpansion compares the moments by series with integrals, on both sides of 0: mean and
// variance agree to 1e-9, the share of the model to 1e-8 of the variance.
func TestPowerExpansion(t *testing.T) {
	t.Parallel()
	series := 0
	transforms := []targetscale.Transform{targetscale.Log1p}
	for _, p := range []float64{0, 0.05, 1.0 / 14, 0.12, 0.16, 1.0 / 6, 0.2, 0.33, 0.5, 0.8} {
		transforms = append(transforms, targetscale.Power(p, 2.5))
	}
	for _, transform := range transforms {
		for _, m := range []float64{-2, -0.5, -0.05, 0, 0.3, 1, 2.5, 6, 20} {
			for _, v := range [][2]float64{{0.001, 0.004}, {0.05, 0.2}, {0.3, 0.1}, {0.4, 0}, {0, 0.25}, {0.2, 0.8}, {1.2, 0.5}} {
				for _, clamped := range []bool{false, true} {
					d := Gaussian(transform, m, v[0], v[1])
					if clamped {
						d = d.NonNegative()
					}
					var e powerExpansion
					if !d.expandPower(&e) {
						continue
					}
					series++
					what := fmt.Sprintf("%v, m %g, variances %v, clamped %v", transform, m, v, clamped)
					z := -m / d.sd
					nodes, weights := splitNodes(z)
					var mean, odd, total float64
					value := make([]float64, len(nodes))
					for i, at := range nodes {
						value[i] = d.fromScore(at)
						mean += weights[i] * value[i]
						odd += weights[i] * d.transform.Inverse(m+d.sd*at)
					}
					if clamped {
						odd = max(odd, 0)
					}
					var c [hermiteTerms]float64
					for i, at := range nodes {
						deviation := weights[i] * (value[i] - mean)
						total += deviation * (value[i] - mean)
						before, now := 0.0, 1.0 // Hermite polynomials over the root of k!
						for k := range c {
							c[k] += deviation * now
							before, now = now, at*seriesRoot[k+1]*now-seriesRatio[k+1]*before
						}
					}
					gotMean, model, noise, _ := d.gaussianMoments()
					checkNear(t, what+": mean", gotMean, odd, 1e-9*(math.Sqrt(total)+math.Abs(odd)))
					if mean := d.gaussianMean(); mean != gotMean {
						t.Errorf("%s: the mean alone is %v, want %v", what, mean, gotMean)
					}
					checkNear(t, what+": variance", model+noise, total, 3e-9*total+1e-20)
					rho, share, want, rest := v[0]/(v[0]+v[1]), 1.0, 0.0, total
					for _, c := range c[1:] {
						share *= rho
						want += share * c * c
						rest -= c * c
					}
					want += share * rho * max(rest, 0)
					checkNear(t, what+": variance of E[y|f]", model, want, 1e-8*total+1e-20)
				}
			}
		}
	}
	if series < 700 {
		t.Errorf("%d of 1134 distributions have a series, want most of them", series)
	}
}

// TestScoreVariance compares the variance under empirical scores with the sum over all
// nodes: they agree to 1e-8.
func TestScoreVariance(t *testing.T) {
	t.Parallel()
	series, all := 0, 0
	for _, scores := range []*ScoreDistribution{skewedScores(500), skewedScores(20000), NewStudentScores(5)} {
		for _, transform := range []targetscale.Transform{targetscale.Log1p, targetscale.Power(0, 3), targetscale.Power(1.0/14, 3), targetscale.Power(0.12, 3), targetscale.Power(1.0/6, 3), targetscale.Power(0.2, 3), targetscale.Power(0.4, 3)} {
			for _, m := range []float64{0, 0.1, 0.5, 1, 2, 5} {
				for _, sd := range []float64{1e-6, 0.01, 0.1, 0.3, 0.6, 1} {
					for _, clamped := range []bool{false, true} {
						d := Gaussian(transform, m, sd*sd/3, 2*sd*sd/3).WithScores(scores)
						if clamped {
							d = d.NonNegative()
						}
						all++
						got, ok := d.scoreVariance(0)
						if !ok {
							continue
						}
						series++
						first, second := nodeMoments(d, scores)
						want := second - first*first
						checkNear(t, fmt.Sprintf("%v, m %g, sd %g, clamped %v", transform, m, sd, clamped), got, want, (1e-8+1e-15/sd)*want)
					}
				}
			}
		}
	}
	if 2*series < all {
		t.Errorf("%d of %d distributions have a series, want most of them", series, all)
	}
}

// TestScoreCellsInAnyOrder checks that moments do not depend on which rows came before, of
// which powers, or on other goroutines that make the same cells.
func TestScoreCellsInAnyOrder(t *testing.T) {
	t.Parallel()
	const rows = 400
	moments := func(scores *ScoreDistribution, i int) Moments {
		transform := []targetscale.Transform{targetscale.Log1p, targetscale.Power(0.16, 1)}[i%2]
		m, noise := 0.5+0.01*float64(i), 0.1+0.002*float64(i%100)
		return Gaussian(transform, m, 0.1, noise).NonNegative().WithScores(scores).Moments()
	}
	alone, shared := skewedScores(700), skewedScores(700)
	var want, got [rows]Moments
	for i := range want {
		want[i] = moments(alone, i)
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := rows - 1 - worker; i >= 0; i -= 4 {
				got[i] = moments(shared, i)
			}
		})
	}
	group.Wait()
	if got != want {
		t.Error("moments depend on the order of rows")
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

// BenchmarkMoments measures the moments of rows as those of a table of sales: most are a few
// standard deviations above 0.
func BenchmarkMoments(b *testing.B) {
	scores := skewedScores(5000)
	for _, transform := range []targetscale.Transform{targetscale.Log1p, targetscale.Power(0.16, 1), targetscale.Power(1.0/6, 1), targetscale.Power(0.2, 1)} {
		b.Run(transform.Name(), func(b *testing.B) {
			d := Gaussian(transform, 0, 0, 1).WithScores(scores).NonNegative()
			sum := 0.0
			for i := range b.N {
				d.Move(0.8+0.03*float64(i%128), 0.05+0.001*float64(i%32), 0.3)
				sum += d.Moments().SDModel
			}
			if !(sum > 0) {
				b.Fatal(sum)
			}
		})
	}
}
