package predictive

import (
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// skewedScores returns an empirical score distribution far from normal: skewed and
// too wide.
func skewedScores(n int) *ScoreDistribution {
	rng := randstream.New(3, "skew")
	z := make([]float64, n)
	for i := range z {
		z[i] = 1.3*(rng.ExpFloat64()-1) + 0.4*rng.NormFloat64()
	}
	slices.Sort(z)
	return NewScoreDistribution(z)
}

type testCase struct {
	name string
	d    Distribution
}

// testCases returns distributions of all kinds, with normal and with skewed scores.
func testCases() []testCase {
	base := []testCase{
		{"identity", Gaussian(targetscale.Identity, 3, 0.5, 2)},
		{"log1p", Gaussian(targetscale.Log1p, 2, 0.1, 0.4)},
		{"log1p wide", Gaussian(targetscale.Log1p, 1, 0.9, 0.6)},
		{"sqrt", Gaussian(targetscale.Sqrt, 4, 0.3, 0.7)},
		{"sqrt near its bound", Gaussian(targetscale.Sqrt, 0.3, 0.4, 0.3)},
		{"cbrt1p", Gaussian(targetscale.Cbrt1p, 3, 0.3, 0.7)},
		{"cbrt1p far from its bound", Gaussian(targetscale.Cbrt1p, 6, 0.2, 0.3)},
		{"cbrt1p near its bound", Gaussian(targetscale.Cbrt1p, 0.3, 0.4, 0.3)},
		{"poisson", CountMixture(likelihood.Poisson{}, 1.5, 0.2)},
		{"poisson large", CountMixture(likelihood.Poisson{}, 6, 0.3)},
		{"poisson with known rate", CountMixture(likelihood.Poisson{}, 2, 0)},
		{"negative binomial", CountMixture(likelihood.NegativeBinomial{Size: 1.5}, 2, 0.3)},
		{"negative binomial large", CountMixture(likelihood.NegativeBinomial{Size: 3}, 5.5, 0.2)},
		{"zero-inflated", CountMixture(likelihood.ZeroInflated{Zero: 0.3, Size: 1.5}, 2, 0.3)},
		{"hurdle", CountMixture(likelihood.Hurdle{Size: 1.5, Shift: -1, Slope: 0.7}, 1, 0.4)},
		{"hurdle large", CountMixture(likelihood.Hurdle{Size: 3, Shift: -4, Slope: 0.8}, 5.5, 0.2)},
	}
	scores := skewedScores(3000)
	all := slices.Clone(base)
	for _, c := range base {
		all = append(all, testCase{c.name + ", skewed", c.d.WithScores(scores)})
	}
	return all
}

// extremeCounts returns count distributions with extreme means and variances.
func extremeCounts() []testCase {
	return []testCase{
		{"poisson with uncertain rate", CountMixture(likelihood.Poisson{}, 2, 4)},
		{"negative binomial with uncertain rate", CountMixture(likelihood.NegativeBinomial{Size: 0.3}, 3, 2)},
		{"poisson of thousands", CountMixture(likelihood.Poisson{}, 9, 0.01)},
		{"zero-inflated with known rate", CountMixture(likelihood.ZeroInflated{Zero: 0.3, Size: 1e6}, 1, 0)},
		{"zero-inflated of thousands", CountMixture(likelihood.ZeroInflated{Zero: 0.6, Size: 80}, 9, 0.01)},
		{"hurdle with uncertain rate", CountMixture(likelihood.Hurdle{Size: 0.3, Shift: -1, Slope: 0.5}, 1, 3)},
		{"hurdle of thousands", CountMixture(likelihood.Hurdle{Size: 80, Shift: 0.5, Slope: 0.01}, 9, 0.01)},
		{"hurdle near zero", CountMixture(likelihood.Hurdle{Size: 2, Shift: 30, Slope: 1}, -30, 0.5)},
		{"poisson near zero", CountMixture(likelihood.Poisson{}, -40, 0.5)},
		{"poisson with known large rate", CountMixture(likelihood.Poisson{}, 8, 0)},
	}
}

func checkNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %g, want %g within %g", what, got, want, tolerance)
	}
}

// nodeMoments returns the first and second moment of a distribution about the middle of its
// nodes, as sums over the nodes.
func nodeMoments(d Distribution, scores *ScoreDistribution) (first, second float64) {
	var value [nodeCount]float64
	d.nodeValues(&value)
	centre := d.fromScore(scores.nodes[nodeCount/2])
	for i, y := range &value {
		first += nodeWeight[i] * (y - centre) / nodeTotal
		second += nodeWeight[i] * (y - centre) * (y - centre) / nodeTotal
	}
	return first, second
}
