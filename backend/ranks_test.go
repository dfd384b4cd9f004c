package backend_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// All ranks get the blocks with a border, and no other values of each other.
func TestShareBorders(t *testing.T) {
	t.Parallel()
	const b = parallel.Block
	for _, bounds := range [][]int{
		{0, b/2 + 1, 2*b + 5},
		{0, b, 2 * b, 3 * b},
		{0, 7, 9, b - 1, b + 3, b + 3, 3 * b, 3*b + 100}, // several in one block, and a rank without values
		{0, 3*b + 1, 5 * b, 5*b + 20, 5*b + 20},
	} {
		n, size := bounds[len(bounds)-1], len(bounds)-1
		known := make([]bool, (n+b-1)/b)
		for _, bound := range bounds[1:size] {
			if bound%b != 0 {
				known[bound/b] = true
			}
		}
		backendtest.OnRanks(size, func(r backend.Ranks) {
			first, end := bounds[r.Rank()], bounds[r.Rank()+1]
			values := make([]float32, n+3) // of which the last belong to none
			for i := first; i < end; i++ {
				values[i] = float32(i + 1)
			}
			backend.ShareBorders(r, values, bounds)
			for i, v := range values {
				want := float32(0)
				if i < n && (i >= first && i < end || known[i/b]) {
					want = float32(i + 1)
				}
				if v != want {
					t.Errorf("rank %d of %v: value %d is %g, want %g", r.Rank(), bounds, i, v, want)
					return
				}
			}
		})
	}
}
