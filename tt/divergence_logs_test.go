package tt

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums of logarithms in groups are those of single values, also of the smallest and the largest ones.
func TestSumLogs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 2))
	for n := range 40 {
		for _, extreme := range []float32{0, math.SmallestNonzeroFloat32, math.MaxFloat32} {
			values, want := make([]float32, n), 0.0
			for i := range values {
				values[i] = rng.Float32()
				if n > 20 || rng.IntN(3) == 0 {
					values[i] = extreme
				}
				want += math.Log(max(float64(values[i]), math.SmallestNonzeroFloat32))
			}
			if got := sumLogs(values); math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
				t.Errorf("the sum of %d logarithms is %g, want %g", n, got, want)
			}
		}
	}
}
