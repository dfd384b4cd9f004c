package kernel

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Backend provides the array operations that kernels need. A backend.Backend
// implements it.
type Backend interface {
	Threads() int
	// Gemm computes the row-major product c = alpha op(a) op(b) + beta c, where
	// c is m x n and the inner dimension is k.
	Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int)
}

// VectorFunctions is an optional extension of a Backend: functions of whole
// arrays, dst[i] = f(src[i]). dst may be src. For backends without them plain
// Go is used.
type VectorFunctions interface {
	Exp(dst, src []float32)
	Cos(dst, src []float32)
}

// engine is a backend together with array functions.
type engine struct {
	Backend
	exp func(dst, src []float32)
	cos func(dst, src []float32) // nil: math.Sincos is used
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

// forEach calls f(0), ..., f(n-1) on up to Threads goroutines, each with a
// contiguous range. The results of f(i) must not depend on the range.
func (e *engine) forEach(n int, f func(i int)) {
	e.ranges(n, func(from, to int) {
		for i := from; i < to; i++ {
			f(i)
		}
	})
}

// forEachScratch is forEach with scratch memory of width values per goroutine.
func (e *engine) forEachScratch(n, width int, f func(i int, scratch []float32)) {
	e.ranges(n, func(from, to int) {
		scratch := make([]float32, width)
		for i := from; i < to; i++ {
			f(i, scratch)
		}
	})
}

// ranges divides [0, n) into contiguous ranges of at least 16 and calls f for
// all of them in parallel.
func (e *engine) ranges(n int, f func(from, to int)) {
	parallel.Ranges(min(e.Threads(), n/16), n, func(_, from, to int) { f(from, to) })
}

// dot returns the sum of a b in float64, summed row by row.
func (e *engine) dot(a, b []float32, rows int) float64 {
	if rows == 0 {
		return 0
	}
	sums, w := make([]float64, rows), len(a)/rows
	e.forEach(rows, func(i int) {
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
