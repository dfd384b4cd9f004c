// Package parallel runs independent pieces of work on several goroutines.
package parallel

import (
	"sync"
	"sync/atomic"
)

// For calls work(0), ..., work(n-1) on at most the given number of goroutines.
// Each goroutine claims the next index when it is free, which balances pieces of
// unequal cost. The calls must be independent of each other.
func For(threads, n int, work func(i int)) {
	threads = min(threads, n)
	if threads <= 1 {
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range threads {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				work(i)
			}
		})
	}
	group.Wait()
}

// Ranges cuts 0..n into one contiguous range per thread, of even length, and calls
// work for every range at once. It suits many small pieces of equal cost. There are
// min(threads, n) ranges, so none is empty.
func Ranges(threads, n int, work func(thread, from, to int)) {
	threads = min(max(threads, 1), n)
	if threads == 1 {
		work(0, 0, n)
		return
	}
	var group sync.WaitGroup
	for t := range threads {
		group.Go(func() { work(t, n*t/threads, n*(t+1)/threads) })
	}
	group.Wait()
}
