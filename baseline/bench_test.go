package baseline

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkFit fits the formulas to a table of the size of a large retail table.
func BenchmarkFit(b *testing.B) {
	t := table([]int{1500, 4500, 24}, [3]int{1_800_000, 600_000, 600_000}, func(rng *rand.Rand, c []int32) float64 {
		return rng.ExpFloat64() * (2 + effect(c[0])) * (2 + effect(c[1], c[2]))
	})
	for b.Loop() {
		Fit(t)
	}
}
