package backend

import "github.com/kernel-fried-tensor/kft/internal/parallel"

// ParallelFor calls work(0), ..., work(n-1) on b.Threads() goroutines, in contiguous
// ranges of even length, several per thread. The calls must be independent of each other.
func ParallelFor(b Backend, n int, work func(i int)) {
	threads := b.Threads()
	pieces := min(n, threads)
	if threads > 1 {
		pieces = min(n, 4*threads)
	}
	parallel.For(threads, pieces, func(p int) {
		for i := n * p / pieces; i < n*(p+1)/pieces; i++ {
			work(i)
		}
	})
}

// Gather copies src, in the order of the observations, to dst in plan order.
func Gather(b Backend, p *Plan, dst, src []float32) {
	parallel.Blocks(b.Threads(), len(p.Source), func(from, to int) {
		for c, i := range p.Source[from:to] {
			dst[from+c] = src[i]
		}
	})
}

// Scatter copies src, in plan order, to dst in the order of the observations.
func Scatter(b Backend, p *Plan, dst, src []float32) {
	parallel.Blocks(b.Threads(), len(p.Source), func(from, to int) {
		for c, i := range p.Source[from:to] {
			dst[i] = src[from+c]
		}
	})
}
