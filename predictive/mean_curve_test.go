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
	if want := 0.75*mean + 2; math.Abs(d.Mean()-want) > 1e-12 || math.Abs(d.Moments().Mean-want) > 1e-12 || d.Unmixed().Mean() != mean {
		t.Errorf("got the mean %g, %g without mixing, want %g and %g", d.Mean(), d.Unmixed().Mean(), want, mean)
	}
	for _, c := range []struct {
		d    Distribution
		want float64 // of a draw of 3
	}{{d, 3 + 2 - 0.25*mean}, {d.NonNegative(), 3 * (0.75 + 2/mean)}, {d.Unmixed(), 3}} {
		draws := []float64{3}
		if c.d.MoveDraws(draws); math.Abs(draws[0]-c.want) > 1e-9 {
			t.Errorf("a draw of 3 moved to %g, want %g", draws[0], c.want)
		}
	}
	if d.Median() != median {
		t.Errorf("got the median %g, want %g", d.Median(), median)
	}
	if d.Move(2, 0.1, 0.3); d.Mean() != mean {
		t.Errorf("got the mean %g after a move, want %g", d.Mean(), mean)
	}
}
