package backend

import "github.com/kernel-fried-tensor/kft/internal/parallel"

// ParallelFor calls work(0), ..., work(n-1) on b.Threads() goroutines, each with
// a contiguous range of even length. The calls must be independent of each other.
func ParallelFor(b Backend, n int, work func(i int)) {
	parallel.Ranges(b.Threads(), n, func(_, from, to int) {
		for i := from; i < to; i++ {
			work(i)
		}
	})
}
