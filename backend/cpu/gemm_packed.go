package cpu

// packed is a product with n columns of op(B) from column j and k rows from
// row p on, in panels: for each block of blockK rows, for each panel, its rows
// in order, the last panel filled up with zeros.
type packed struct {
	product
	b    []float32
	p, k int
	j, n int
}

// Op(A) is transposed into a block of its own where its columns lie far apart
// in memory and enough panels will use it.
const (
	farApart  = 256
	reuseFrom = 3
)

func (g *packed) panelCount() int { return (g.n + g.panel() - 1) / g.panel() }

// block returns the rows of the block that starts at row p (from the start of
// the packed part) in a panel.
func (g *packed) block(p, panel int) (rows int, data []float32) {
	rows = min(blockK, g.k-p)
	width := g.panel()
	start := p*g.panelCount()*width + panel*rows*width
	return rows, g.b[start : start+rows*width]
}

func (g *packed) pack(threads int) {
	width, panels := g.panel(), g.panelCount()
	blocks := (g.k + blockK - 1) / blockK
	parallel(threads, blocks*panels, func(task int) {
		p, panel := task/panels*blockK, task%panels
		rows, data := g.block(p, panel)
		columns := min(width, g.n-panel*width)
		if columns < width {
			clear(data)
		}
		src := g.product.b[g.offsetB(g.p+p, g.j+panel*width):]
		if g.tb {
			g.transpose(data, width, src, g.ldb, columns, rows)
			return
		}
		for i := range rows {
			copy(data[i*width:i*width+columns], src[i*g.ldb:])
		}
	})
}

func (g *packed) multiply(threads int) {
	turn := g.ta && g.lda > farApart && g.panelCount() >= reuseFrom
	grid := newGrid(g.m, g.rows, g.panelCount(), threads)
	parallel(threads, grid.tasks(), func(task int) {
		rows, columns := grid.task(task)
		var t tile
		t.bStep, t.cRow, t.count = g.panel(), g.ldc, 1
		t.rows = rows.end - rows.start
		t.aRow, t.aStep = g.lda, 1
		if g.ta {
			t.aRow, t.aStep = 1, g.lda
		}
		var turned buffer
		if turn {
			turned = takeBuffer(t.rows * blockK)
			defer turned.put()
			t.aRow, t.aStep = blockK, 1
		}
		for p := 0; p < g.k; p += blockK {
			t.k = min(blockK, g.k-p)
			t.a = g.a[g.offsetA(rows.start, g.p+p):]
			if turn {
				g.transpose(turned.data, blockK, t.a, g.lda, t.k, t.rows)
				t.a = turned.data
			}
			g.setFactors(&t, p)
			for panel := columns.start; panel < columns.end; panel++ {
				_, t.b = g.block(p, panel)
				j := panel * g.panel()
				t.c = g.c[rows.start*g.ldc+g.j+j:]
				g.panels.run(&t, min(g.panel(), g.n-j))
			}
		}
	})
}
