package backend

import (
	"math/rand/v2"
	"testing"
)

// The largest run has as little work as the best of all divisions.
func TestEvenRuns(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var best func(work []float64, size int) float64
	best = func(work []float64, size int) float64 {
		least, sum := 0.0, 0.0
		for _, w := range work {
			sum += w
		}
		if size == 1 {
			return sum
		}
		least, sum = sum, 0
		for first := 1; first <= len(work)-size+1; first++ {
			sum += work[first-1]
			least = min(least, max(sum, best(work[first:], size-1)))
		}
		return least
	}
	for range 300 {
		size := 1 + rng.IntN(4)
		n := size + rng.IntN(6)
		work, before := make([]float64, n), make([]float64, n+1)
		for i := range work {
			work[i] = float64(rng.IntN(6))
			before[i+1] = before[i] + work[i]
		}
		bounds := evenRuns(before, size)
		largest := 0.0
		for r := range size {
			if bounds[r+1] <= bounds[r] {
				t.Fatalf("%v into %d runs: run %d of %v is empty", work, size, r, bounds)
			}
			largest = max(largest, before[bounds[r+1]]-before[bounds[r]])
		}
		if want := best(work, size); bounds[0] != 0 || bounds[size] != n || largest != want {
			t.Errorf("%v into %d runs: got %v with the largest %g, want %g", work, size, bounds, largest, want)
		}
	}
}
