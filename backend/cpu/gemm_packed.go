package cpu

// packed is a part of a product, with k rows of op(B) from row p and n columns
// from column j, packed in panels of k rows each. The last panel is padded with
// zeros.
type packed struct {
	product
	packed []float32
	p, j   int
}

// A block of op(A) is copied if enough panels use the copy and if the original
// would not stay in the first-level cache: because A is stored transposed with
// columns far apart, or because its rows start near the same offset within a
// page or half a page and so share few cache sets. The rows of the copy are an
// odd number of cache lines apart.
const (
	reuseFrom = 4
	farApart  = 256
	halfPage  = 512
	copiedRow = blockK + 16

	// copiedRows rows of A are multiplied by all panels before the next rows.
	// The number is small enough that each panel can prefetch one of the next
	// rows or, for a transposed A, large enough to use whole cache lines.
	copiedRows           = 36
	copiedRowsTransposed = 96

	packedRows = 32 // rows of B that one task packs
)

func (g *packed) panelCount() int { return (g.n + g.panel() - 1) / g.panel() }

// panelData returns one packed panel.
func (g *packed) panelData(i int) []float32 {
	size := g.k * g.panel()
	return g.packed[i*size : (i+1)*size]
}

// packTasks returns the number of tasks of pack: runs of rows, because the rows
// of B may be pages apart, or panels if B is stored transposed.
func (g *packed) packTasks() int {
	if g.tb {
		return g.panelCount()
	}
	return (g.k + packedRows - 1) / packedRows
}

// pack performs one task of filling the panels.
func (g *packed) pack(task int) {
	width := g.panel()
	if g.tb {
		columns := min(width, g.n-task*width)
		data := g.panelData(task)
		if columns < width {
			clear(data)
		}
		g.transpose(data, width, g.b[g.offsetB(g.p, g.j+task*width):], g.ldb, columns, g.k)
		return
	}
	for i := task * packedRows; i < min(g.k, (task+1)*packedRows); i++ {
		at := g.offsetB(g.p+i, g.j)
		row := g.b[at : at+g.n]
		to := g.packed[i*width:]
		for len(row) > width {
			copy(to[:width], row)
			row, to = row[width:], to[g.k*width:]
		}
		copied := copy(to[:width], row)
		clear(to[copied:width])
	}
}

// grid returns the tasks of multiply.
func (g *packed) grid(threads int) grid {
	rows := copiedRows
	if g.ta {
		rows = copiedRowsTransposed
	}
	return newGrid(g.m, rows, g.panels.tileRows(), g.panelCount(), threads)
}

// multiply computes the given rows and panels of C.
func (g *packed) multiply(rows, columns span) {
	t := g.tile(rows)
	t.k, t.bStep = g.k, g.panel()
	t.a = g.a[g.offsetA(rows.start, g.p):]
	if g.panelCount() >= reuseFrom && g.sharesSets() {
		block := getBuffer(t.rows * copiedRow)
		defer block.release()
		g.copyA(block.data, &t)
		t.a, t.aRow, t.aStep = block.data, copiedRow, 1
	}
	t.setFactors(g.alpha, g.beta)
	for panel := columns.start; panel < columns.end; panel++ {
		t.b = g.panelData(panel)
		if next := rows.end + panel - columns.start; !g.ta && next < g.m {
			t.prefetch(g.a[g.offsetA(next, g.p):], 1)
		} else {
			t.prefetch(nil, 0)
		}
		j := panel * g.panel()
		t.c = g.c[rows.start*g.ldc+g.j+j:]
		g.panels.run(&t, min(g.panel(), g.n-j))
	}
}

// sharesSets reports whether the elements of op(A) that one step of k reads, or
// the steps of a block, compete for few cache sets.
func (g *packed) sharesSets() bool {
	if g.ta {
		return g.lda > farApart
	}
	const line = 16
	return g.lda > farApart && (g.lda+line)%halfPage <= 2*line
}

// copyA copies the rows x k block of op(A) at t.a, row by row.
func (g *packed) copyA(dst []float32, t *tile) {
	if g.ta {
		g.transpose(dst, copiedRow, t.a, g.lda, t.k, t.rows)
		return
	}
	for i := range t.rows {
		copy(dst[i*copiedRow:i*copiedRow+t.k], t.a[i*g.lda:])
	}
}
