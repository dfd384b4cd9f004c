package cpu

// The blocks of a product. A panel of blockK rows of B and two vectors of
// columns fills most of a first-level cache; the packed part of B and a block
// of A stay in the second and third.
const (
	blockK       = 256
	packedK      = 8 * blockK // rows of B packed at once
	packedSize   = 1 << 21    // elements of B packed at once
	cachedPanel  = 8192       // elements of B that a first-level cache holds
	mostTaskRows = 480        // rows of A whose block of k stays in the second level
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

// offsetA is the place of op(A)[i][p] in a.
func (g *product) offsetA(i, p int) int {
	if g.ta {
		return p*g.lda + i
	}
	return i*g.lda + p
}

// offsetB is the place of op(B)[p][j] in b.
func (g *product) offsetB(p, j int) int {
	if g.tb {
		return j*g.ldb + p
	}
	return p*g.ldb + j
}

// multiply computes the product. B is packed into panels two vectors wide,
// except where it is narrow enough to be read in place, or where too few rows
// would use the packed copy.
func (g *product) multiply(threads int) {
	if !g.tb && (g.ldb <= 4*g.panel() || g.m <= 2*g.rows) {
		g.multiplyInPlace(threads)
		return
	}
	width := g.panel()
	depth := min(packedK, (g.k+blockK-1)/blockK*blockK)
	columns := min((g.n+width-1)/width, max(1, packedSize/(depth*width))) * width
	buffer := takeBuffer(min(depth, g.k) * columns)
	defer buffer.put()
	for j := 0; j < g.n; j += columns {
		for p := 0; p < g.k; p += depth {
			part := packed{product: *g, b: buffer.data, p: p, k: min(depth, g.k-p), j: j, n: min(columns, g.n-j)}
			if p > 0 {
				part.beta = 1
			}
			part.pack(threads)
			part.multiply(threads)
		}
	}
}

// panel is the number of columns of a panel.
func (g *product) panel() int { return g.panels.width() }

// multiplyInPlace computes the product without packing.
func (g *product) multiplyInPlace(threads int) {
	depth := blockK
	if g.ldb <= 4*g.panel() {
		depth = min(blockK, max(64, cachedPanel/g.ldb&^7))
	}
	panels := (g.n + g.panel() - 1) / g.panel()
	grid := newGrid(g.m, g.rows, panels, threads)
	parallel(threads, grid.tasks(), func(task int) {
		rows, columns := grid.task(task)
		var t tile
		t.a, t.aRow, t.aStep = g.a, g.lda, 1
		if g.ta {
			t.aRow, t.aStep = 1, g.lda
		}
		t.bStep, t.cRow, t.count = g.ldb, g.ldc, 1
		t.rows = rows.end - rows.start
		for p := 0; p < g.k; p += depth {
			t.k = min(depth, g.k-p)
			t.a = g.a[g.offsetA(rows.start, p):]
			g.setFactors(&t, p)
			for panel := columns.start; panel < columns.end; panel++ {
				j := panel * g.panel()
				t.b = g.b[g.offsetB(p, j):]
				t.c = g.c[rows.start*g.ldc+j:]
				g.panels.run(&t, min(g.panel(), g.n-j))
			}
		}
	})
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
