package dataset

import (
	"sync"
	"sync/atomic"
)

// each calls f(0), ..., f(n-1) on several goroutines.
func each(workers, n int, f func(i int)) {
	if workers == 1 || n <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}
