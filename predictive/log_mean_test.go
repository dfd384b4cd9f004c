package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestMeanLog1p compares the mean of log(1 + y) with that over many quantiles.
func TestMeanLog1p(t *testing.T) {
	t.Parallel()
	scores := make([]float64, 400)
	for i := range scores {
		scores[i] = 1.3*normalQuantile((float64(i)+0.5)/400) + 0.2
	}
	for name, d := range map[string]Distribution{
		"log1p":     Gaussian(targetscale.Log1p, 2, 0.1, 0.4),
		"power":     Gaussian(targetscale.Power(0.2, 1), 2, 0.1, 0.4),
		"negative":  Gaussian(targetscale.Identity, 1, 1, 3),
		"empirical": Gaussian(targetscale.Log1p, 2, 0.1, 0.4).WithScores(NewScoreDistribution(scores)),
		"count":     CountMixture(likelihood.Poisson{}, 1.5, 0.3),
		"large":     CountMixture(likelihood.Poisson{}, 7, 0.3),
	} {
		const n = 20_000
		want := 0.0
		for i := range n {
			want += math.Log1p(max(d.Quantile((float64(i)+0.5)/n), 0)) / n
		}
		if got := d.MeanLog1p(); math.Abs(got-want) > 0.003 {
			t.Errorf("%s: got %g, want %g", name, got, want)
		}
	}
}
