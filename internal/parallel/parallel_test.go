package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEveryIndexIsVisitedOnce(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{0, 1, 2, 3, 16} {
		for _, n := range []int{0, 1, 2, 5, 100} {
			byFor, byRanges := make([]atomic.Int32, n), make([]atomic.Int32, n)
			For(threads, n, func(i int) { byFor[i].Add(1) })
			Ranges(threads, n, func(_, from, to int) {
				if from >= to {
					t.Errorf("threads %d, n %d: got the empty range %d..%d", threads, n, from, to)
				}
				for i := from; i < to; i++ {
					byRanges[i].Add(1)
				}
			})
			for i := range n {
				if got := byFor[i].Load(); got != 1 {
					t.Errorf("For(%d, %d): index %d visited %d times, want 1", threads, n, i, got)
				}
				if got := byRanges[i].Load(); got != 1 {
					t.Errorf("Ranges(%d, %d): index %d visited %d times, want 1", threads, n, i, got)
				}
			}
		}
	}
}
