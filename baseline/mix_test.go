package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMix(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	parts := make([][]float64, 4)
	y := make([]float64, n)
	for k, share := range []float64{0.5, 0, 0.4, 0.1} {
		for i := range n {
			v := rng.NormFloat64()
			parts[k] = append(parts[k], v)
			y[i] += share * v
		}
	}
	for count, want := range [][]float64{{}, {1}, {0.75, 0.25}, {0.53, 0.03, 0.43}, {0.5, 0, 0.4, 0.1}} {
		got := Mix(parts[:count], y)
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 0.03 {
				t.Errorf("got the shares %.2f, want %.2f", got, want)
				break
			}
		}
	}
}
