// Package lowrank approximates kernel matrices by few columns: the choice of pivots, orthonormal vectors and eigenvalues.
package lowrank

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// minResidual is the residual variance, relative to k(x, x), below which no further
// pivot is chosen.
const minResidual = 1e-5

// minParallel is the number of rows below which Pivots uses one thread.
const minParallel = 1024

// Pivots returns up to m rows by pivoted Cholesky: the next pivot is the row
// with the largest variance given the previous pivots. Columns of the kernel matrix
// are computed one at a time. O(n m (m + C)) work for n rows, n m float32 in room.
//
// Ties go to the row with the smaller features, so the order of rows does not
// matter.
func Pivots(b backend.Backend, k kernel.Kernel, x kernel.Rows, m int, room []float32) []int {
	n := x.N
	factor := room[:n*m]
	column := make([]float32, n)
	left := slices.Repeat([]float64{k.Diagonal()}, n)
	row := func(i int) []float32 { return x.X[i*x.C : (i+1)*x.C] }
	threads := b.Threads()
	if n < minParallel {
		threads = 1
	}
	var chosen []int
	next := centralRow(x)
	for len(chosen) < m {
		if next < 0 || left[next] <= minResidual*k.Diagonal() {
			break
		}
		pivot, j := next, len(chosen)
		chosen = append(chosen, pivot)
		kernel.Gram(b, column, k, x, kernel.Rows{N: 1, C: x.C, X: row(pivot)})
		scale := 1 / math.Sqrt(left[pivot])
		given := slices.Clone(factor[pivot*m:][:j])
		best := slices.Repeat([]int{-1}, threads)
		parallel.Ranges(threads, n, func(t, from, to int) {
			for i := from; i < to; i++ {
				v := (float64(column[i]) - float64(dot(factor[i*m:][:j], given))) * scale
				factor[i*m+j] = float32(v)
				left[i] -= v * v
				if i == pivot {
					left[i] = 0
				}
				if best[t] < 0 || better(left, row, i, best[t]) {
					best[t] = i
				}
			}
		})
		next = -1
		for _, i := range best {
			if i >= 0 && (next < 0 || better(left, row, i, next)) {
				next = i
			}
		}
	}
	return chosen
}

// Candidates returns n of the rows: those with the smallest hashes of their features, so that
// the order of rows does not matter.
func Candidates(x kernel.Rows, n int) kernel.Rows {
	row := func(i int) []float32 { return x.X[i*x.C : (i+1)*x.C] }
	hash, order := make([]uint64, x.N), make([]int, x.N)
	for i := range order {
		order[i] = i
		h := uint64(14695981039346656037)
		for _, v := range row(i) {
			h = (h ^ uint64(math.Float32bits(v))) * 0x9e3779b97f4a7c15
			h ^= h >> 32
		}
		hash[i] = h
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(hash[i], hash[j]), slices.Compare(row(i), row(j)))
	})
	some := kernel.Rows{N: n, C: x.C, X: make([]float32, 0, n*x.C)}
	for _, i := range order[:n] {
		some.X = append(some.X, row(i)...)
	}
	return some
}

// better reports whether row i is a better pivot than another row.
func better(left []float64, row func(int) []float32, i, than int) bool {
	return left[i] > left[than] || left[i] == left[than] && slices.Compare(row(i), row(than)) < 0
}

// centralRow returns the row nearest to the mean row. It is the first pivot, because
// all rows have the same variance before it.
func centralRow(x kernel.Rows) int {
	mean := make([]float64, x.C)
	for i, v := range x.X {
		mean[i%x.C] += float64(v) / float64(x.N)
	}
	best, least := -1, math.Inf(1)
	for i := range x.N {
		d, at := 0.0, x.X[i*x.C:(i+1)*x.C]
		for c, v := range at {
			d += (float64(v) - mean[c]) * (float64(v) - mean[c])
		}
		if d < least || d == least && slices.Compare(at, x.X[best*x.C:(best+1)*x.C]) < 0 {
			best, least = i, d
		}
	}
	return best
}

// dot returns the dot product of a and b. Its four partial sums are independent, so
// the processor can compute them in parallel.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		s0 += v * b[i]
	}
	return s0 + s1 + (s2 + s3)
}
