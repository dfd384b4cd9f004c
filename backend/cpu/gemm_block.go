package cpu

import "github.com/kernel-fried-tensor/kft/internal/parallel"

// Block sizes of a product. A panel of blockK rows of B and two vectors of
// columns fills most of a first-level cache. The packed part of B is used by
// all rows of A and stays in the second-level cache.
const (
	blockK      = 256
	packedSize  = 1 << 18 // elements of B packed at once: half of a second-level cache
	inPlaceRows = 120     // rows of A per task if B is read in place
	cachedPanel = 8192    // elements of B that a first-level cache holds
)

// product is one call of Gemm.
type product struct {
	denseKernels
	ta, tb      bool
	m, n, k     int
	alpha, beta float32
	a, b, c     []float32
	lda, ldb    int
	ldc         int
}

// offsetA returns the index of op(A)[i][p] in a.
func (g *product) offsetA(i, p int) int {
	if g.ta {
		return p*g.lda + i
	}
	return i*g.lda + p
}

// offsetB returns the index of op(B)[p][j] in b.
func (g *product) offsetB(p, j int) int {
	if g.tb {
		return j*g.ldb + p
	}
	return p*g.ldb + j
}

// multiply computes the product. B is packed into panels two vectors wide,
// unless it is narrow enough to be read in place or too few rows would use the
// packed copy.
func (g *product) multiply(threads int) {
	if !g.tb && (g.ldb <= 4*g.panel() || g.m <= 2*g.panels.tileRows()) {
		g.multiplyInPlace(threads)
		return
	}
	g.multiplyPacked(threads)
}

// panel returns the number of columns of a panel.
func (g *product) panel() int { return g.panels.width() }

// multiplyInPlace computes the product without packing.
func (g *product) multiplyInPlace(threads int) {
	depth := blockK
	if g.ldb <= 4*g.panel() {
		depth = min(blockK, max(64, cachedPanel/g.ldb&^7))
	}
	panels := (g.n + g.panel() - 1) / g.panel()
	grid := newGrid(g.m, inPlaceRows, g.panels.tileRows(), panels, threads)
	if threads == 1 { // small products take this branch and do not allocate
		for task := range grid.tasks() {
			g.blockInPlace(grid, task, depth)
		}
		return
	}
	shared := *g
	parallel.For(threads, grid.tasks(), func(task int) { shared.blockInPlace(grid, task, depth) })
}

// blockInPlace computes one task of a product without packing, in blocks of
// length depth along k.
func (g *product) blockInPlace(grid grid, task, depth int) {
	rows, columns := grid.task(task)
	t := g.tile(rows)
	for p := 0; p < g.k; p += depth {
		t.k = min(depth, g.k-p)
		t.a = g.a[g.offsetA(rows.start, p):]
		g.setFactors(&t, p)
		for panel := columns.start; panel < columns.end; panel++ {
			j := panel * g.panel()
			t.b = g.b[g.offsetB(p, j):]
			t.c = g.c[rows.start*g.ldc+j:]
			g.prefetchNext(&t, panel-columns.start, p)
			g.panels.run(&t, min(g.panel(), g.n-j))
		}
	}
}

// prefetchNext prefetches, while panel i of the block of k at p is computed,
// what will be read next: the next rows of A or the next block of k.
func (g *product) prefetchNext(t *tile, i, p int) {
	switch {
	case i == 0 && g.ta:
		t.prefetch(rest(g.a, (p+t.k)*g.lda), 16)
	case i == 0 && t.k == g.k && g.lda <= 2*g.k:
		t.prefetch(rest(t.a, g.panels.tileRows()*g.lda), (g.panels.tileRows()*g.lda+g.k-1)/g.k)
	case i == 1:
		t.prefetch(rest(g.b, (p+t.k)*g.ldb), 16)
	default:
		t.prefetch(nil, 0)
	}
}

// rest returns x[from:], which is empty if x is shorter.
func rest(x []float32, from int) []float32 { return x[min(from, len(x)):] }

// tile returns a tile for the given rows of C, with A and B read in place.
func (g *product) tile(rows span) tile {
	t := tile{aRow: g.lda, aStep: 1, bStep: g.ldb, cRow: g.ldc, rows: rows.end - rows.start, count: 1}
	if g.ta {
		t.aRow, t.aStep = 1, g.lda
	}
	return t
}

// setFactors sets alpha and beta for the block that starts at p: C is scaled
// once and added to afterwards.
func (g *product) setFactors(t *tile, p int) {
	if p == 0 {
		t.setFactors(g.alpha, g.beta)
	} else {
		t.setFactors(g.alpha, 1)
	}
}
