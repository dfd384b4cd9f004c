package relation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Errors of data entry are found beside values of many distributions, none of which has outliers of its own.
func TestOutlying(t *testing.T) {
	t.Parallel()
	poisson := func(r *rand.Rand, mean float64) float64 {
		n := -1
		for p := 1.0; p > math.Exp(-mean); n++ {
			p *= r.Float64()
		}
		return float64(n)
	}
	for _, tc := range []struct {
		name  string
		draw  func(r *rand.Rand) float64
		error float64 // far enough from the values of the distribution, 0 if its tail explains everything
	}{
		{"counts", func(r *rand.Rand) float64 { return poisson(r, 3) }, 5000},
		{"counts with many zeros", func(r *rand.Rand) float64 {
			if r.Float64() < 0.8 {
				return 0
			}
			return 1 + poisson(r, 1)
		}, 99999},
		{"temperatures", func(r *rand.Rand) float64 { return 300 + 5*r.NormFloat64() }, -99999},
		{"sales", func(r *rand.Rand) float64 { return math.Exp(3 + r.NormFloat64()) }, 1e9},
		{"claims", func(r *rand.Rand) float64 { return math.Exp(2.5 * r.NormFloat64()) }, 0},
		{"incomes", func(r *rand.Rand) float64 { return math.Pow(r.Float64(), -1/1.5) }, 1e9},
		{"an infinite mean", func(r *rand.Rand) float64 { return math.Pow(r.Float64(), -2) }, 0},
		{"a Student distribution", func(r *rand.Rand) float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }, 1e9},
		{"a Cauchy distribution", func(r *rand.Rand) float64 { return math.Tan(math.Pi * r.Float64()) }, 0},
	} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 5))
			y := make([]float64, 600+500*seed)
			for i := range y {
				y[i] = tc.draw(r)
			}
			y[3] = math.NaN()
			if got := Outlying(y); got != nil {
				t.Errorf("%s, seed %d: got rows %d with %v, want none", tc.name, seed, got, y[got[0]])
			}
			if tc.error != 0 {
				y[70], y[500] = tc.error, 3*tc.error
				if got := Outlying(y); !slices.Equal(got, []int{70, 500}) {
					t.Errorf("%s, seed %d: got rows %d, want 70 and 500", tc.name, seed, got)
				}
			}
		}
	}
	if got := Outlying([]float64{1, 2, 3, 1e9}); got != nil {
		t.Errorf("few values: got rows %d, want none", got)
	}
}
