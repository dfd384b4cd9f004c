package tt

import (
	"math"
	"testing"
)

// Covariances of float32 may lose a pivot in rounding; the bound stays finite.
func TestLogDetOfSingularCovariance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		a    []float32
		want float64
		near float64
	}{
		{"definite", []float32{4, 2, 2, 3}, math.Log(8), 1e-6},
		{"rank one", []float32{1, 1, 1, 1}, math.Log(1.0 / (1 << 24)), 1e-6},
		{"indefinite by rounding", []float32{1, 1, 1, math.Nextafter32(1, 0)}, math.Log(1.0 / (1 << 24)), 1e-6},
		{"zero", []float32{0, 0, 0, 0}, 2 * math.Log(math.SmallestNonzeroFloat32), 1e-6},
	} {
		if got := logDet(c.a, 2); !(math.Abs(got-c.want) <= c.near) {
			t.Errorf("%s: got %g, want %g", c.name, got, c.want)
		}
	}
}
