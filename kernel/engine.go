package kernel

import (
	"math"
	"sync"
)

// Backend is the array work kernels need; a backend.Backend does it.
type Backend interface {
	Threads() int
	// Gemm computes the row-major c = alpha op(a) op(b) + beta c, c being m x n
	// and the inner dimension k.
	Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
}

// VectorFunctions is what a backend may offer beside its own methods: functions
// of whole arrays, dst[i] = f(src[i]), dst may be src. A backend without them
// is served by plain Go.
type VectorFunctions interface {
	Exp(dst, src []float32)
	Cos(dst, src []float32)
}

// engine is a backend and the array functions kernels need of it.
type engine struct {
	Backend
	exp func(dst, src []float32)
	cos func(dst, src []float32) // nil: sine and cosine together in plain Go
}

func newEngine(b Backend) *engine {
	e := &engine{Backend: b, exp: plainExp}
	if v, ok := b.(VectorFunctions); ok {
		e.exp, e.cos = v.Exp, v.Cos
	}
	return e
}

func plainExp(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(math.Exp(float64(x)))
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// each runs f for every i below n, on the backend's number of goroutines, each
// with a range of its own. What f writes for i may not depend on the range.
func (e *engine) each(n int, f func(i int)) {
	e.ranges(n, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// rows is each with an array of width values for every goroutine.
func (e *engine) rows(n, width int, f func(i int, scratch []float32)) {
	e.ranges(n, func(from, to int) {
		scratch := make([]float32, width)
		for i := from; i < to; i++ {
			f(i, scratch)
		}
	})
}

func (e *engine) ranges(n int, f func(from, to int)) {
	threads := min(e.Threads(), n/16)
	if threads <= 1 {
		f(0, n)
		return
	}
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() { f(n*t/threads, n*(t+1)/threads) })
	}
	wait.Wait()
}

// dot returns sum a b in float64, summed row by row.
func (e *engine) dot(a, b []float32, rows int) float64 {
	if rows == 0 {
		return 0
	}
	sums, w := make([]float64, rows), len(a)/rows
	e.each(rows, func(i int) {
		for j := i * w; j < (i+1)*w; j++ {
			sums[i] += float64(a[j]) * float64(b[j])
		}
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}

func resize(a []float32, n int) []float32 {
	if cap(a) < n {
		return make([]float32, n)
	}
	return a[:n]
}
