package backend

import "sync"

// Each runs work for each i in [0, n), in as many even runs as the backend has
// threads, at once. What one i writes must not depend on the others.
func Each(b Backend, n int, work func(i int)) {
	threads := min(b.Threads(), n)
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			for i := n * t / threads; i < n*(t+1)/threads; i++ {
				work(i)
			}
		})
	}
	wait.Wait()
}
