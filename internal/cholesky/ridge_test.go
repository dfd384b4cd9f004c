package cholesky

import (
	"math"
	"testing"
)

func TestSolveRidge(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		a      []float64
		raised bool
		x      float64 // first value of the solution for b = (2, 2)
	}{
		{[]float64{2, 0, 0, 2}, false, 1},
		{[]float64{0, 0, 0, 0}, true, 2e30},
		{[]float64{nan, 0, 0, 1}, true, nan},
		{[]float64{1, nan, nan, 1}, true, nan}, // the trace is finite
	} {
		b := []float64{2, 2}
		raised := SolveRidge(c.a, 2, []float64{0, 0}, b, make([]float64, 4))
		if same := b[0] == c.x || math.Abs(b[0]-c.x) < 1e-9*math.Abs(c.x) || math.IsNaN(b[0]) && math.IsNaN(c.x); raised != c.raised || !same {
			t.Errorf("%v: got %v, raised %v; want %g, raised %v", c.a, b, raised, c.x, c.raised)
		}
	}
}

func TestSolveRidgeValues(t *testing.T) {
	t.Parallel()
	a, x := []float64{4, 1, 1, 3}, []float64{1, 2}
	if SolveRidge(a, 2, []float64{1, 2}, x, make([]float64, 4)) {
		t.Error("a positive definite matrix was raised")
	}
	// (5 1; 1 5) x = (1 2)
	if math.Abs(x[0]-3./24) > 1e-12 || math.Abs(x[1]-9./24) > 1e-12 {
		t.Errorf("got %v, want [0.125 0.375]", x)
	}
	x = []float64{1, 1}
	if !SolveRidge([]float64{1, 1, 1, 1}, 2, []float64{0, 0}, x, make([]float64, 4)) || math.Abs(x[0]+x[1]-1) > 1e-4 {
		t.Errorf("singular matrix: got %v, want a sum of 1", x)
	}
	x = []float64{1, 1}
	if !SolveRidge([]float64{math.NaN(), 0, 0, 1}, 2, []float64{0, 0}, x, make([]float64, 4)) || !math.IsNaN(x[0]) {
		t.Errorf("matrix of NaN: got %v, want NaN", x)
	}
}
