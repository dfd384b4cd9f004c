package predictive

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

func TestScoreDistributionHasTheOrderStatistics(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 19, 2001, 2002, 2500, 30000} {
		rng := randstream.New(2, "order")
		z := make([]float64, n)
		for i := range z {
			z[i] = (0.3 + 0.4*float64(rng.IntN(2))) * (rng.ExpFloat64() - 1)
		}
		slices.Sort(z)
		s := NewScoreDistribution(z)
		worst := 0.0
		for k := 1; k <= n; k++ {
			got := s.Quantile(float64(k) / float64(n+1))
			exact := n <= maxKnots || k <= tailKnots || k > n-tailKnots
			if off := math.Abs(got - z[k-1]); exact && off > 1e-9 {
				t.Fatalf("n %d, rank %d: got %g, want %g", n, k, got, z[k-1])
			} else if !exact {
				worst = max(worst, off)
			}
		}
		if worst > 0.02 {
			t.Errorf("n %d: got an error of %g between knots, want at most 0.02", n, worst)
		}
		before := math.Inf(-1)
		for i := 1; i < 5000; i++ {
			p := float64(i) / 5000
			v := s.Quantile(p)
			if v < before {
				t.Fatalf("n %d: the quantile function decreases at %g", n, p)
			}
			before = v
			if below, upTo := s.cdfBelow(v), s.CDF(v); below > p+1e-9 || upTo < p-1e-9 {
				t.Fatalf("n %d: got CDF limits %g and %g at the quantile %g, want them around %g", n, below, upTo, v, p)
			}
		}
	}
}

func TestRestoreScoreDistribution(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 19, 5000} {
		want := skewedScores(n)
		got, err := RestoreScoreDistribution(n, want.Knots())
		if err != nil {
			t.Fatalf("n %d: %v", n, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("n %d: the restored distribution differs", n)
		}
	}
	for name, c := range map[string]struct {
		n     int
		knots []float64
	}{
		"no scores":      {0, nil},
		"too few knots":  {3, []float64{1, 2}},
		"too many knots": {1, []float64{1, 2}},
		"NaN":            {2, []float64{math.NaN(), 2}},
		"infinite":       {2, []float64{1, math.Inf(1)}},
		"not sorted":     {2, []float64{2, 1}},
	} {
		if _, err := RestoreScoreDistribution(c.n, c.knots); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
