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
