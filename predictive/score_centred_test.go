package predictive

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCentred checks that a chance shift of the scores is removed, that a significant one
// is kept, and that the shape does not change.
func TestCentred(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 300, 6000} {
		for _, errors := range []float64{0, 1, 2, 4, 20} {
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			scores := make([]float64, n)
			for i := range scores {
				scores[i] = rng.ExpFloat64() - 1
			}
			mean := 0.0
			for _, z := range scores {
				mean += z / float64(n)
			}
			for i := range scores {
				scores[i] += errors/math.Sqrt(float64(n)) - mean // the sd is about 1
			}
			slices.Sort(scores)
			s := NewScoreDistribution(scores)
			c := s.Centred()
			shift := s.Quantile(.5) - c.Quantile(.5)
			for _, p := range []float64{1e-6, .05, .3, .9, 1 - 1e-6} {
				if got := s.Quantile(p) - c.Quantile(p); math.Abs(got-shift) > 1e-9 {
					t.Errorf("%d scores: got shift %g at level %g, want %g as in the median", n, got, p, shift)
				}
			}
			if n < 300 {
				continue
			}
			want := errors / math.Sqrt(float64(n))
			if errors > centredErrors {
				want *= 4 / (errors * errors)
			}
			if slack := .25 / math.Sqrt(float64(n)); math.Abs(shift-want) > slack {
				t.Errorf("%d scores with a mean of %g standard errors: got shift %g, want %g +- %g", n, errors, shift, want, slack)
			}
		}
	}
	if standardNormal.Centred() != standardNormal {
		t.Error("the standard normal distribution is centred already")
	}
}
