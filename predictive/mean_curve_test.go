package predictive

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

func TestMeanCurve(t *testing.T) {
	t.Parallel()
	factor, err := NewMeanCurve(false, []float64{1, 2, 4}, []float64{2, 2, 6})
	if err != nil {
		t.Fatal(err)
	}
	shift, err := NewMeanCurve(true, []float64{-1, 3}, []float64{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		curve      *MeanCurve
		mean, want float64
	}{
		{"factor below", factor, 0.5, 1}, {"first knot", factor, 1, 2}, {"flat", factor, 1.5, 2}, {"between", factor, 3, 4},
		{"last knot", factor, 4, 6}, {"factor above", factor, 8, 12}, {"never negative", factor, -2, 0},
		{"shift below", shift, -5, -4}, {"shift between", shift, 1, 1}, {"shift above", shift, 10, 9},
	} {
		if got := c.curve.At(c.mean); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %g at %g, want %g", c.name, got, c.mean, c.want)
		}
	}
}

func TestMeanCurveRejectsInvalidKnots(t *testing.T) {
	t.Parallel()
	for name, knots := range map[string][2][]float64{
		"none":            {},
		"lengths":         {{1, 2}, {1}},
		"not finite":      {{1, math.Inf(1)}, {1, 2}},
		"NaN":             {{1, 2}, {1, math.NaN()}},
		"equal predicted": {{1, 1}, {1, 2}},
		"decreasing":      {{1, 2}, {2, 1}},
		"zero":            {{0, 1}, {0, 1}},
		"negative":        {{1, 2}, {-1, 1}},
	} {
		if c, err := NewMeanCurve(false, knots[0], knots[1]); err == nil {
			t.Errorf("%s: got %v, want an error", name, c)
		}
	}
}

// The curve changes the mean of a distribution and nothing else.
func TestWithMeanCurve(t *testing.T) {
	t.Parallel()
	curve, err := NewMeanCurve(false, []float64{1}, []float64{1.5})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []Distribution{Gaussian(targetscale.Log1p, 1, 0.1, 0.2), Gaussian(targetscale.Cbrt1p, 2, 0.1, 0.2), CountMixture(likelihood.Poisson{}, 1, 0.1)} {
		c := d.WithMeanCurve(curve)
		if got, want := c.Mean(), 1.5*d.Mean(); math.Abs(got-want) > 1e-12*want || got != c.Moments().Mean || c.UncorrectedMean() != d.Mean() {
			t.Errorf("got means %g and %g (uncorrected %g), want %g (%g)", got, c.Moments().Mean, c.UncorrectedMean(), want, d.Mean())
		}
		if c.Quantile(.3) != d.Quantile(.3) || c.SD() != d.SD() || c.Evaluate(2) != d.Evaluate(2) || c.WithMeanCurve(nil).Mean() != d.Mean() {
			t.Error("the curve changes more than the mean")
		}
	}
}

// TestMixMean checks that a mixed mean is share times the mean plus rest until the
// distribution moves, and that nothing else changes.
func TestMixMean(t *testing.T) {
	t.Parallel()
	d := Gaussian(targetscale.Log1p, 2, 0.1, 0.3)
	mean, median := d.Mean(), d.Median()
	d.MixMean(0.75, 2)
	if want := 0.75*mean + 2; math.Abs(d.Mean()-want) > 1e-12 || math.Abs(d.Moments().Mean-want) > 1e-12 {
		t.Errorf("got the means %g and %g, want %g", d.Mean(), d.Moments().Mean, want)
	}
	if d.Median() != median {
		t.Errorf("got the median %g, want %g", d.Median(), median)
	}
	if d.Move(2, 0.1, 0.3); d.Mean() != mean {
		t.Errorf("got the mean %g after a move, want %g", d.Mean(), mean)
	}
}

// TestMoveOfDraws checks that moved draws have the given mean, that values which cannot be negative stay so, that counts
// stay counts, and that a move can be undone.
func TestMoveOfDraws(t *testing.T) {
	t.Parallel()
	skewed := make([]float64, 500)
	for i := range skewed {
		u := (float64(i) + 0.5) / float64(len(skewed))
		skewed[i] = -math.Log(1-u) - 1
	}
	scores := NewScoreDistribution(skewed)
	gaussian, poisson := Gaussian(targetscale.Log1p, 2, 0.1, 0.3), CountMixture(likelihood.Poisson{}, 0.5, 0.2)
	for name, c := range map[string]struct {
		d           Distribution
		most, least float64
	}{
		"values of both signs":      {gaussian, math.Inf(1), math.Inf(-1)},
		"values of 0 or more":       {gaussian.NonNegative(), math.Inf(1), 0},
		"skewed scores":             {gaussian.NonNegative().WithScores(scores), math.Inf(1), 0},
		"squares":                   {Gaussian(targetscale.Sqrt, 1, 0.5, 0.5), math.Inf(1), 0},
		"counts":                    {poisson, math.Inf(1), 0},
		"counts with skewed scores": {poisson.WithScores(scores), math.Inf(1), 0},
	} {
		for _, factor := range []float64{0.7, 1, 1.2} {
			const n = 40_000
			want := factor * c.d.DrawnMean()
			move, sum, square := c.d.MoveOfDraws(want), 0.0, 0.0
			for k := range n {
				draw := c.d.Quantile((float64(k) + 0.5) / n)
				v := move.Apply(draw, 7, uint64(k))
				if v < c.least || c.d.IsCount() && v != math.Floor(v) {
					t.Fatalf("%s: the draw %g moved to %g", name, draw, v)
				}
				if back := move.Undo(v); !c.d.IsCount() && math.Abs(back-draw) > 1e-9*(1+draw) {
					t.Fatalf("%s: got %g back, want %g", name, back, draw)
				}
				sum, square = sum+v/n, square+v*v/n
			}
			// Quantiles at even levels leave out the end of the tail; counts are rounded at random.
			if se := math.Sqrt((square - sum*sum) / n); math.Abs(sum-want) > 4*se {
				t.Errorf("%s: draws moved by %g have the mean %g, want %g", name, factor, sum, want)
			}
		}
	}
	if m := gaussian.MoveOfDraws(math.NaN()); m.Apply(3, 1, 1) != 3 {
		t.Errorf("a move to NaN changed 3 to %g", m.Apply(3, 1, 1))
	}
}
