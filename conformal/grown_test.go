package conformal

import (
	"math"
	"slices"
	"testing"
)

// normalScores returns n quantiles of a normal distribution with mean 0.
func normalScores(n int, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = sd * math.Sqrt2 * math.Erfinv(2*float64(i+1)/float64(n+1)-1)
	}
	return out
}

// TestGrown checks that only scores with a surprise become smaller, by how much wider the model is now, and never than it expects.
func TestGrown(t *testing.T) {
	t.Parallel()
	scores := func(size float64) []float64 { return Symmetric(normalScores(99, size)) }
	for _, c := range []struct {
		what               string
		size, wider, after float64
	}{
		{"errors as expected", 1, 10, 1},
		{"errors somewhat larger", 1.8, 10, 1.8},
		{"a surprise that was not learned", 20, 1.1, 20},
		{"a surprise that was learned in part", 20, 4, 5},
		{"a surprise that was learned", 20, 100, 1},
		{"an sd that is not known", 20, math.NaN(), 20},
	} {
		given := scores(c.size)
		correction, err := NewByHorizon(1, given, given, slices.Repeat([]int32{1}, len(given)), 1)
		if err != nil {
			t.Fatal(err)
		}
		after := Origin{Spread: 2, Surprised: Surprised(given), Correction: correction}.After(2 * c.wider)
		if got, want := after.Factors()[0], c.after/c.size; math.Abs(got/want-1) > .04 {
			t.Errorf("%s: got the factor %g, want %g", c.what, got, want)
		}
		if Grown(given, c.wider); math.Abs(sizeQuantile(given)/(c.after*usualSize)-1) > .04 {
			t.Errorf("%s: got scores with the quantile %g, want %g", c.what, sizeQuantile(given), c.after*usualSize)
		}
	}
}

// TestAgain checks that intervals which were made narrower become wider again after a surprise, up to what the model expects, and
// those that a surprise made wider narrower, to twice what later errors ask for.
func TestAgain(t *testing.T) {
	t.Parallel()
	scores := func(size float64) []float64 { return normalScores(1999, size) }
	for _, c := range []struct {
		what                string
		given, later, after float64 // 0 for the correction as it is
	}{
		{"errors as before", .3, .4, 0},
		{"errors that the correction does not contain", .3, .8, .8},
		{"errors that the model does not expect", .3, 20, 1},
		{"intervals that were not made narrower", 1.1, 20, 0},
		{"a surprise that goes on", 10, 8, 0},
		{"a surprise that is over", 10, 1.5, 3},
		{"a surprise that is over, of which the model expects more", 10, .2, 2},
	} {
		given := scores(c.given)
		correction, err := NewByHorizon(1, given, given, slices.Repeat([]int32{1}, len(given)), 1)
		if err != nil {
			t.Fatal(err)
		}
		got := NewOrigin(correction, 1).Again(scores(c.later))
		if (got == nil) != (c.after == 0) {
			t.Errorf("%s: got the correction %v", c.what, got)
		} else if got != nil && math.Abs(got.Factors()[0]/(c.after/c.given)-1) > .04 {
			t.Errorf("%s: got the factor %g, want %g", c.what, got.Factors()[0], c.after/c.given)
		}
	}
}
