package cpu

import "fmt"

// Gemm computes C = alpha op(A) op(B) + beta C on row-major matrices, where
// op(X) is X or, where ta or tb is set, its transpose; op(A) is m x k, op(B)
// k x n and C m x n. lda, ldb and ldc are the distances of rows as stored.
// With beta = 0 C is written without being read; with alpha = 0 or k = 0 A and
// B are not read. C must not overlap A or B.
//
// It takes 2mnk operations. The result has the same bits for every number of
// threads: the blocks of k depend on the sizes alone, and within one each
// element is summed in the order of k.
func Gemm(p Path, threads int, ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if m < 0 || n < 0 || k < 0 || threads < 1 {
		panic(fmt.Sprintf("cpu: Gemm of m=%d n=%d k=%d on %d threads", m, n, k, threads))
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
		threads = 1 // a few microseconds: not worth waking a thread
	}
	if m <= tallWidth && n <= tallWidth && k >= 2*tallChunk {
		g.multiplyTall(threads)
	} else {
		g.multiply(threads)
	}
}

// checkMatrix panics where x cannot hold rows x columns with that stride.
func checkMatrix(name string, x []float32, rows, columns, stride int) {
	if stride < max(1, columns) {
		panic(fmt.Sprintf("cpu: Gemm: %s has rows of %d elements at a distance of %d", name, columns, stride))
	}
	if rows > 0 && columns > 0 && len(x) < (rows-1)*stride+columns {
		panic(fmt.Sprintf("cpu: Gemm: %s is %d x %d at a distance of %d and has %d elements", name, rows, columns, stride, len(x)))
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
// panels) are cut along k instead.
const (
	tallWidth  = 128
	tallChunk  = 2048
	tallChunks = 64
)

// multiplyTall computes the products of chunks of k into matrices of their
// own, in parallel, and adds these in order.
func (g *product) multiplyTall(threads int) {
	length := max(tallChunk, (g.k/tallChunks+blockK)/blockK*blockK)
	chunks := (g.k + length - 1) / length
	size := g.m * g.n
	buffer := takeBuffer(chunks * size)
	defer buffer.put()
	shared := *g
	parallel(threads, chunks, func(chunk int) {
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
