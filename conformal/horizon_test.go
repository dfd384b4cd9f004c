package conformal

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
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
		cell := predictive.Gaussian(targetscale.Identity, location[i], 0, 1)
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
	cell := predictive.Gaussian(targetscale.Identity, 0.5, 0, 1)
	far, last, none := restored.Apply(cell, -1, 9), restored.Apply(cell, -1, 4), restored.Apply(cell, -1, 0)
	if far.Quantile(0.9) != last.Quantile(0.9) || none.Quantile(0.9) >= last.Quantile(0.9) {
		t.Errorf("got quantiles %g beyond the last horizon, %g at it and %g without one", far.Quantile(0.9), last.Quantile(0.9), none.Quantile(0.9))
	}
}

// TestWithoutShocks gives each horizon a mean of its own: what differs between them does not
// move the median of forecasts, an error of all does, unless it is larger than those of single rows.
func TestWithoutShocks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name   string
		shifts []float64
		want   float64
	}{
		{"shocks", []float64{-0.4, 0.5, -0.2}, 0},
		{"an error of the model", []float64{0.5, 0.5, 0.5}, 0.5},
		{"one horizon", []float64{0.5}, 0.5},
		{"a new level", []float64{1.5, 1.5, 1.5}, 0},
	} {
		var scores, location []float64
		var horizon []int32
		for i := range 15_000 {
			h := i % len(c.shifts)
			scores, location, horizon = append(scores, rng.NormFloat64()+c.shifts[h]), append(location, rng.Float64()), append(horizon, int32(h)+1)
		}
		correction, err := newByHorizon4(scores, location, horizon)
		if err != nil {
			t.Fatal(err)
		}
		for h := range c.shifts {
			cell := predictive.Gaussian(targetscale.Identity, 0, 0, 1)
			if got := correction.Apply(cell, -1, int32(h)+1).Quantile(0.5); math.Abs(got-c.want) > 0.06 {
				t.Errorf("%s: got the median %.3f at horizon %d, want %.3f", c.name, got, h+1, c.want)
			}
		}
	}
}

// TestShocksOfLaterPeriods gives the rows of each period a shock in common. Periods to come have shocks of their own, which
// intervals contain.
func TestShocksOfLaterPeriods(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	const periods, rows, repeats = 6, 400, 60
	draw := func() (scores, location []float64, horizon []int32) {
		for h := range periods {
			shock := 0.7 * rng.NormFloat64()
			for range rows {
				scores, location, horizon = append(scores, shock+rng.NormFloat64()), append(location, 0), append(horizon, int32(h)+1)
			}
		}
		return scores, location, horizon
	}
	inside := 0.0
	for range repeats {
		scores, location, horizon := draw()
		c, err := NewByHorizon(1, scores, location, horizon, 1)
		if err != nil {
			t.Fatal(err)
		}
		var low, high [periods + 1]float64
		for h := 1; h <= periods; h++ {
			d := c.Apply(predictive.Gaussian(targetscale.Identity, 0, 0, 1), -1, int32(h))
			low[h], high[h] = d.Quantile(0.05), d.Quantile(0.95)
		}
		later, _, horizon := draw()
		for i, z := range later {
			if h := horizon[i]; z >= low[h] && z <= high[h] {
				inside += 1.0 / float64(len(later)) / repeats
			}
		}
	}
	if math.Abs(inside-0.9) > 0.025 {
		t.Errorf("90 %% intervals of later periods hold %.3f", inside)
	}
}

// TestFewRowsPerHorizon takes independent scores for noise, not for shocks, however few rows a horizon has.
func TestFewRowsPerHorizon(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{1, 2, 3, 10} {
		var scores []float64
		var horizon []int32
		for i := range 500 * rows {
			scores, horizon = append(scores, rng.NormFloat64()), append(horizon, int32(i/rows)+1)
		}
		c, err := NewByHorizon(2, scores, make([]float64, len(scores)), horizon, 1)
		if err != nil {
			t.Fatal(err)
		}
		cell := predictive.Gaussian(targetscale.Identity, 0, 0, 1)
		low, high := c.Apply(cell, -1, 1).Quantile(0.05), c.Apply(cell, -1, 1).Quantile(0.95)
		if got := high - low; math.Abs(got-2*1.645) > 0.3 {
			t.Errorf("%d rows per horizon: got 90 %% intervals of width %.3f, want 3.29", rows, got)
		}
	}
}

func TestSymmetric(t *testing.T) {
	t.Parallel()
	scores := []float64{3, 1, 2, 2.5, 0.5}
	if got, want := Symmetric(scores), []float64{-3, 1, -2, 2.5, -0.5}; !slices.Equal(got, want) || scores[0] != 3 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// newByHorizon4 is NewByHorizon with 4 bins, for results of a function.
func newByHorizon4(scores, location []float64, horizon []int32) (*Correction, error) {
	return NewByHorizon(2, scores, location, horizon, 4)
}

func TestByHorizonErrors(t *testing.T) {
	t.Parallel()
	zeros := make([]float64, 50)
	if _, err := NewByHorizon(2, zeros, zeros, make([]int32, 50), 1); err == nil || !strings.Contains(err.Error(), "use rows of later periods") {
		t.Errorf("got error %v for rows that are no forecasts", err)
	}
	c, err := NewSplit(2, zeros)
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

func TestBySize(t *testing.T) {
	t.Parallel()
	const rows = 1200 // more than scores
	c, err := NewBySize(2, 5, rows, 6)
	if err != nil {
		t.Fatal(err)
	}
	again, err := FromRecord(c.Record())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Correction{c, again} {
		low, high := c.at(3).pool.Quantile(0.05), c.at(3).pool.Quantile(0.95)
		if math.Abs(high-2*2.015) > 0.02 || math.Abs(low+high) > 1e-9 || c.Rows() != rows || len(c.Factors()) != 6 || c.Check(0.001, 0.999) != nil {
			t.Errorf("got %g to %g from %d rows, %d horizons, %v", low, high, c.Rows(), len(c.Factors()), c.Check(0.001))
		}
	}
	for level, want := range map[float64]float64{0.75: 0.727, 0.95: 2.015, 0.99: 3.365} { // t with 5 degrees of freedom
		if got := c.at(1).pool.Quantile(level) / 2; math.Abs(got-want) > 0.02*want {
			t.Errorf("got the quantile %g of %g, want %g", got, level, want)
		}
	}
	broken := c.Record()
	broken.Sized = 1 << 40
	if _, err := FromRecord(broken); err == nil {
		t.Error("a record of more rows than scores is read")
	}
}

// Periods of minutes, or times of events, may lie further ahead than there are factors.
func TestHorizonsBeyondTheLastFactor(t *testing.T) {
	t.Parallel()
	var scores, location []float64
	var horizon []int32
	random := rand.New(rand.NewPCG(1, 2))
	for h := int32(1); h <= 3*MaxHorizon; h += 2 {
		scores, location, horizon = append(scores, random.NormFloat64()), append(location, 0), append(horizon, h)
	}
	byHorizon, err := NewByHorizon(2, scores, location, horizon, 1)
	if err != nil {
		t.Fatal(err)
	}
	bySize, err := NewBySize(2, 1e9, 12, 3*MaxHorizon)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Correction{byHorizon, bySize} {
		again, err := FromRecord(c.Record())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []int32{1, MaxHorizon, 3 * MaxHorizon} {
			if got, want := again.at(h).pool.Quantile(0.95), c.at(h).pool.Quantile(0.95); got != want {
				t.Errorf("horizon %d: got %g after reading, want %g", h, got, want)
			}
		}
	}
	if horizon[len(horizon)-1] <= MaxHorizon {
		t.Error("the horizons of the caller were changed")
	}
}
