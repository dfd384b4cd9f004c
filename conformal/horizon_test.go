package conformal

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive"
)

// TestByHorizon calibrates forecasts whose errors grow with the horizon while the model
// says that they do not.
func TestByHorizon(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) (scores, location []float64, horizon []int32) {
		for range n {
			h := 1 + rng.Int32N(4)
			scores = append(scores, rng.NormFloat64()*math.Sqrt(float64(h)))
			location = append(location, rng.Float64())
			horizon = append(horizon, h)
		}
		return scores, location, horizon
	}
	c, err := newByHorizon4(draw(20_000))
	if err != nil {
		t.Fatal(err)
	}
	factors := c.Factors()
	for h := range factors {
		if want := math.Sqrt(float64(h + 1)); math.Abs(factors[h]/factors[0]/want-1) > 0.05 {
			t.Errorf("horizon %d: got the factor %.3f of the first, want %.3f", h+1, factors[h]/factors[0], want)
		}
	}
	restored, err := FromRecord(c.Record())
	if err != nil || !reflect.DeepEqual(restored.Record(), c.Record()) {
		t.Fatalf("got %v after a round trip", err)
	}
	inside := make([]float64, 5)
	rows := make([]float64, 5)
	scores, location, horizon := draw(20_000)
	for i, z := range scores {
		cell := predictive.Gaussian(predictive.Identity, location[i], 0, 1)
		d := restored.Apply(cell, -1, horizon[i])
		y := location[i] + z
		rows[horizon[i]]++
		if y >= d.Quantile(0.05) && y <= d.Quantile(0.95) {
			inside[horizon[i]]++
		}
	}
	for h := 1; h <= 4; h++ {
		if coverage := inside[h] / rows[h]; math.Abs(coverage-0.9) > 0.015 {
			t.Errorf("horizon %d: 90 %% intervals hold %.3f", h, coverage)
		}
	}
	cell := predictive.Gaussian(predictive.Identity, 0.5, 0, 1)
	far, last, none := restored.Apply(cell, -1, 9), restored.Apply(cell, -1, 4), restored.Apply(cell, -1, 0)
	if far.Quantile(0.9) != last.Quantile(0.9) || none.Quantile(0.9) >= last.Quantile(0.9) {
		t.Errorf("got quantiles %g beyond the last horizon, %g at it and %g without one", far.Quantile(0.9), last.Quantile(0.9), none.Quantile(0.9))
	}
}

// newByHorizon4 is NewByHorizon with 4 bins, for results of a function.
func newByHorizon4(scores, location []float64, horizon []int32) (*Correction, error) {
	return NewByHorizon(scores, horizon, func(scores []float64) (*Correction, error) { return NewByMean(scores, location, 4) })
}

func TestByHorizonErrors(t *testing.T) {
	t.Parallel()
	zeros := make([]float64, 50)
	if _, err := NewByHorizon(zeros, make([]int32, 50), NewSplit); err == nil || !strings.Contains(err.Error(), "periods after") {
		t.Errorf("got error %v for rows that are no forecasts", err)
	}
	c, err := NewSplit(zeros)
	if err != nil {
		t.Fatal(err)
	}
	for _, factors := range [][]float64{{0}, {math.NaN()}, {1, -1}, make([]float64, MaxHorizon+1)} {
		r := c.Record()
		r.Factors = factors
		if _, err := FromRecord(r); err == nil {
			t.Errorf("got no error for %d factors %v", len(factors), factors[:1])
		}
	}
}

// TestByHorizonAndSpread checks that parts of bins by spread keep the factors of horizons.
func TestByHorizonAndSpread(t *testing.T) {
	t.Parallel()
	const n = 20_000
	rng := rand.New(rand.NewPCG(3, 4))
	scores, location, spread, horizon := make([]float64, n), make([]float64, n), make([]float64, n), make([]int32, n)
	for i := range scores {
		location[i], spread[i], horizon[i] = rng.Float64(), rng.Float64(), int32(1+i%2)
		scores[i] = rng.NormFloat64() * (1 + float64(i%2)) * (1 + spread[i])
	}
	c, err := NewByHorizon(scores, horizon, func(scores []float64) (*Correction, error) { return NewBySpread(scores, location, spread, 4, 5) })
	if err != nil {
		t.Fatal(err)
	}
	if c, err = FromRecord(c.Record()); err != nil {
		t.Fatal(err)
	}
	width := func(horizon int32, spread float64) float64 {
		d := c.Apply(predictive.Gaussian(predictive.Identity, 0.5, 0, spread*spread), -1, horizon)
		return (d.Quantile(0.95) - d.Quantile(0.05)) / spread
	}
	if ratio := width(2, 0.5) / width(1, 0.5); math.Abs(ratio-2) > 0.1 {
		t.Errorf("intervals two periods ahead are %g times as wide, want 2", ratio)
	}
	if ratio := width(1, 0.95) / width(1, 0.05); ratio < 1.5 {
		t.Errorf("intervals of the largest spread are %g times as wide, want more than 1.5", ratio)
	}
}
