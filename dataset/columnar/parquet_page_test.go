package columnar

import (
	"math"
	"slices"
	"testing"
)

func TestAllWithin(t *testing.T) {
	t.Parallel()
	for n := range 11 {
		indexes := make([]int32, n)
		for i := range indexes {
			indexes[i] = int32(i % 5)
		}
		if !allWithin(indexes, 5) {
			t.Errorf("allWithin(%v, 5) = false, want true", indexes)
		}
		for i := range indexes {
			for _, wrong := range []int32{5, -1, math.MaxInt32, math.MinInt32} {
				bad := slices.Clone(indexes)
				bad[i] = wrong
				if allWithin(bad, 5) {
					t.Errorf("allWithin(%v, 5) = true, want false", bad)
				}
			}
		}
	}
}
