package cpu

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Gemm computes C = alpha op(A) op(B) + beta C for row-major matrices. op(X) is
// the transpose of X if ta or tb is set, and X otherwise; op(A) is m x k, op(B)
// is k x n and C is m x n. lda, ldb and ldc are the strides of the stored rows.
// With beta = 0 C is written without being read; with alpha = 0 or k = 0 A and
// B are not read. C must not overlap A or B.
//
// It takes 2mnk operations. The result has the same bits for every number of
// threads: the blocks of k depend on the sizes only, and within a block each
// element is summed in the order of k.
func Gemm(p Path, threads int, ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m < 0 || n < 0 || k < 0 || threads < 1 {
		panic(fmt.Sprintf("cpu: Gemm: invalid arguments m=%d n=%d k=%d threads=%d", m, n, k, threads))
	}
	checkMatrix("C", c, m, n, ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scaleRows(c, m, n, ldc, beta)
		return
	}
	if ta {
		checkMatrix("A", a, k, m, lda)
	} else {
		checkMatrix("A", a, m, k, lda)
	}
	if tb {
		checkMatrix("B", b, n, k, ldb)
	} else {
		checkMatrix("B", b, k, n, ldb)
	}
	g := product{
		denseKernels: denseKernelsFor(p),
		ta:           ta, tb: tb, m: m, n: n, k: k,
		alpha: alpha, a: a, lda: lda, b: b, ldb: ldb, beta: beta, c: c, ldc: ldc,
	}
	if m*n*k < 1<<20 {
		threads = 1 // takes a few microseconds, less than starting a goroutine is worth
	}
	if m <= tallWidth && n <= tallWidth && k >= 2*tallChunk {
		g.multiplyTall(threads)
	} else {
		g.multiply(threads)
	}
}

// checkMatrix panics if x cannot hold rows x columns elements with that stride.
func checkMatrix(name string, x []float32, rows, columns, stride int) {
	if stride < max(1, columns) {
		panic(fmt.Sprintf("cpu: Gemm: %s has rows of %d elements and a stride of %d", name, columns, stride))
	}
	if rows > 0 && columns > 0 && len(x) < (rows-1)*stride+columns {
		panic(fmt.Sprintf("cpu: Gemm: %s is %d x %d with a stride of %d and has only %d elements", name, rows, columns, stride, len(x)))
	}
}

// scaleRows computes C = beta C.
func scaleRows(c []float32, m, n, ldc int, beta float32) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}

// Products with few rows and columns and a long k (Gram matrices of tall
// panels) are divided along k.
const (
	tallWidth  = 128
	tallChunk  = 2048
	tallChunks = 64
)

// multiplyTall computes the products of chunks of k in parallel into separate
// matrices and adds these in order.
func (g *product) multiplyTall(threads int) {
	length := max(tallChunk, (g.k/tallChunks+blockK)/blockK*blockK)
	chunks := (g.k + length - 1) / length
	size := g.m * g.n
	buffer := getBuffer(chunks * size)
	defer buffer.release()
	shared := *g
	parallel.For(threads, chunks, func(chunk int) {
		part := shared
		from := chunk * length
		part.k = min(length, part.k-from)
		part.a, part.b = part.a[part.offsetA(0, from):], part.b[part.offsetB(from, 0):]
		part.c, part.ldc, part.beta = buffer.data[chunk*size:(chunk+1)*size], part.n, 0
		part.multiply(1)
	})
	sum := buffer.data[:size]
	for chunk := 1; chunk < chunks; chunk++ {
		for i, v := range buffer.data[chunk*size : (chunk+1)*size] {
			sum[i] += v
		}
	}
	for i := range g.m {
		row := g.c[i*g.ldc : i*g.ldc+g.n]
		for j, v := range sum[i*g.n : (i+1)*g.n] {
			if g.beta == 0 {
				row[j] = v
			} else {
				row[j] = v + g.beta*row[j]
			}
		}
	}
}
