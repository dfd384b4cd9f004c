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
