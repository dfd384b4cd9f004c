package main

import (
	"math"
	"strings"
	"testing"
)

func TestReached(t *testing.T) {
	t.Parallel()
	points := []point{{Seconds: 3, Pinball: 2}, {Seconds: 9, Pinball: 1.7}, {Seconds: 5, Pinball: 1.8}, {Seconds: 6, Pinball: 1.9}}
	for level, want := range map[float64]float64{2: 3, 1.9: 5, 1.8: 5, 1.75: 9, 1.7: 9} {
		if got := reached(points, level); got != want {
			t.Errorf("%g: got %g s, want %g", level, got, want)
		}
	}
	if got := reached(points, 1.6); !math.IsNaN(got) {
		t.Errorf("got %g s for a loss that was not reached", got)
	}
	if got := best(points); got.Seconds != 9 {
		t.Errorf("got the best after %g s, want 9", got.Seconds)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	ours := []point{{Seconds: 4, Pinball: 1.84}, {Seconds: 8, Pinball: 1.75}}
	theirs, err := parsePoints([]byte("{\"seconds\": 30, \"rounds\": 10, \"pinball\": 1.9}\n{\"seconds\": 80, \"rounds\": 20, \"pinball\": 1.79}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	report(&out, ours, theirs)
	for _, want := range []string{"| 1.85 | 4.0 | 80.0 | 20.0 |", "| 1.80 | 8.0 | 80.0 | 10.0 |", "| 1.78 | 8.0 | not reached |  |", "| 1.7900, the best of LightGBM | 8.0 | 80.0 | 10.0 |", "| 1.7500, the best of kft | 8.0 | not reached |  |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q in it", out.String(), want)
		}
	}
	var picture strings.Builder
	if _, err := draw(ours, theirs, 2).WriteTo(&picture); err != nil || !strings.Contains(picture.String(), "LightGBM") {
		t.Errorf("got %v and %s", err, picture.String())
	}
	for _, bad := range []string{"", "x"} {
		if _, err := parsePoints([]byte(bad)); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}
