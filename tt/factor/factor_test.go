package factor

import (
	"math"
	"testing"
)

// With as many columns as the rank of a matrix, F F' is the matrix; with fewer, its diagonal is not above that of the matrix.
func TestPivoted(t *testing.T) {
	t.Parallel()
	rows := [][]float64{{2, 0, 1}, {1, 3, 0}, {0, 1, 1}, {3, 3, 1}} // of rank 3
	n := len(rows)
	entry := func(i, j int) (sum float64) {
		for k := range rows[i] {
			sum += rows[i][k] * rows[j][k]
		}
		return sum
	}
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = entry(i, i)
	}
	column := func(dst []float64, j int) {
		for i := range dst {
			dst[i] += entry(i, j)
		}
	}
	f := Pivoted(diagonal, n, column)
	if len(f) != 3*n {
		t.Fatalf("got %d columns of a matrix of rank 3", len(f)/n)
	}
	got := f.Product(n)
	for i := range n {
		for j := range n {
			if want := entry(i, j); math.Abs(got[i*n+j]-want) > 1e-5 {
				t.Errorf("entry %d, %d: got %g, want %g", i, j, got[i*n+j], want)
			}
		}
	}
	for i, v := range Pivoted(diagonal, 1, column).Diagonal(n) {
		if v > diagonal[i]+1e-5 {
			t.Errorf("one column has the diagonal %g at %d, more than %g", v, i, diagonal[i])
		}
	}
}
