package cholesky

import (
	"math"
	"testing"
)

func TestSolveRidge(t *testing.T) {
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
