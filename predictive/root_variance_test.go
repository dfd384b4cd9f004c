package predictive

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestRootVariance compares the variance by sums of powers with the sum over all nodes,
// from far above the bound to far below it: they agree to 1e-9 of the variance.
func TestRootVariance(t *testing.T) {
	t.Parallel()
	for _, scores := range []*ScoreDistribution{standardNormal, skewedScores(500), NewStudentScores(3)} {
		for _, transform := range []targetscale.Transform{targetscale.Identity, targetscale.Sqrt, targetscale.Cbrt1p} {
			for _, m := range []float64{-30, -4, -1, -0.2, 0, 0.3, 1, 1.5, 2.2, 4, 8, 300} {
				for _, sd := range []float64{1e-6, 0.01, 0.3, 1, 5} {
					for _, clamped := range []bool{false, true} {
						d := Gaussian(transform, m, sd*sd/3, 2*sd*sd/3).WithScores(scores)
						if clamped {
							d = d.NonNegative()
						}
						first, second := nodeMoments(d, scores)
						want := max(second-first*first, 0)
						what := fmt.Sprintf("%v, %v, m %g, sd %g, clamped %v", scores.given != nil, transform, m, sd, clamped)
						// The sum over nodes adds sd z to m, which rounds to 1e-16 of m, and subtracts 1.
						checkNear(t, what, d.empiricalVariance(0), want, (1e-9+1e-15*math.Abs(m)/sd)*(want+1e-9*second)+1e-26)
					}
				}
			}
		}
	}
}

// TestQuantilesAt checks that shared levels give the same bits as levels of one
// distribution.
func TestQuantilesAt(t *testing.T) {
	t.Parallel()
	p := []float64{.001, .05, .5, .95}
	levels := NewLevels(p)
	var got, want [4]float64
	for range 2 {
		for _, c := range testCases() {
			c.d.QuantilesAt(got[:], levels)
			c.d.Quantiles(want[:], p)
			if got != want {
				t.Errorf("%s: got %v, want %v", c.name, got, want)
			}
			got = [4]float64{}
			if all := c.d.MomentsAndQuantiles(got[:], levels); all != c.d.Moments() || got != want {
				t.Errorf("%s: together %v and %v, want %v and %v", c.name, all, got, c.d.Moments(), want)
			}
		}
	}
	for range maxLevelScores + 10 {
		levels.at(&ScoreDistribution{})
	}
	if len(levels.scores) > maxLevelScores {
		t.Errorf("%d score distributions are remembered, want at most %d", len(levels.scores), maxLevelScores)
	}
}
