package golden

import (
	"math"
	"testing"
)

func TestMaximum(t *testing.T) {
	t.Parallel()
	for _, peak := range []float64{-2, -0.3, 0, 1.7, 5} {
		calls := 0
		f := func(x float64) float64 {
			calls++
			return -math.Abs(x - peak)
		}
		for _, ends := range [][2]float64{{-2, 5}, {5, -2}} {
			calls = 0
			if got := Maximum(ends[0], ends[1], 40, f); math.Abs(got-peak) > 7*math.Pow(section, 40) || calls != 42 {
				t.Errorf("peak at %g between %v: got %g after %d calls", peak, ends, got, calls)
			}
		}
	}
}
