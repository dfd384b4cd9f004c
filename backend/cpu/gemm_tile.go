package cpu

import "unsafe"

// tile describes one panel of a product: for each of count matrices, the rows x
// columns block C = alpha A B + beta C, where a panel has at most one or two
// vectors of columns. Strides are in elements. The assembly reads only the
// addresses of the slices; the code that fills a tile is responsible for their
// lengths.
type tile struct {
	a, b, c             []float32
	aRow, aStep         int     // strides of A: row to row, column to column
	bStep, cRow         int     // strides of B and C: row to row
	rows, k             int     // both at least one
	count               int     // at least one
	aNext, bNext, cNext int     // strides from matrix to matrix
	ahead               uintptr // address to prefetch from; any valid address if aheadStep is 0
	aheadStep           int     // bytes to advance the prefetch address per step of k
	pace                int     // steps of k between prefetches of rows of C
	lanes               *int32  // AVX2: one mask per column
	columns             int
	mask                uint32 // AVX-512: one bit per column
	flags               uint32
	alpha, beta         float32
}

// Flags of a tile.
const (
	tileScale = 1 << iota // alpha != 1
	tileAdd               // beta != 0: C is read
	tileEdge              // the columns do not fill their vectors
)

// laneMasks[32-n:] masks the first n columns.
var laneMasks = [64]int32{
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
}

// setColumns sets the number of columns of the panel; full is the number of
// columns that fill its vectors.
func (t *tile) setColumns(columns, full int) {
	t.columns = columns
	t.lanes = &laneMasks[32-columns]
	t.mask = uint32(1<<columns - 1)
	if columns == full {
		t.flags &^= tileEdge
	} else {
		t.flags |= tileEdge
	}
}

// prefetch makes the kernel prefetch the elements of next in order, perStep
// elements per step of k. These are the elements that are read after this tile.
func (t *tile) prefetch(next []float32, perStep int) {
	if len(next) == 0 {
		t.aheadStep = 0
		return
	}
	t.ahead = uintptr(unsafe.Pointer(&next[0]))
	t.aheadStep = 4 * perStep
}

// setFactors sets alpha and beta.
func (t *tile) setFactors(alpha, beta float32) {
	t.alpha, t.beta = alpha, beta
	t.flags &^= tileScale | tileAdd
	if alpha != 1 {
		t.flags |= tileScale
	}
	if beta != 0 {
		t.flags |= tileAdd
	}
}

// panelKernel identifies a family of tile kernels by the number of columns of a
// vector.
type panelKernel int

const (
	genericLanes panelKernel = 4
	avx2Lanes    panelKernel = 8
	avx512Lanes  panelKernel = 16
)

// width returns the number of columns of a panel.
func (lanes panelKernel) width() int { return 2 * int(lanes) }

// tileRows returns the number of rows of a full register tile of two vectors.
func (lanes panelKernel) tileRows() int {
	switch lanes {
	case avx512Lanes:
		return 12
	case avx2Lanes:
		return 6
	}
	return 4
}

// run computes one panel of at most width columns.
func (lanes panelKernel) run(t *tile, columns int) {
	vectors := 2
	if columns <= int(lanes) {
		vectors = 1
	}
	t.setColumns(columns, vectors*int(lanes))
	if lanes == genericLanes {
		genericTiles(t)
		return
	}
	if t.aheadStep == 0 {
		t.ahead = uintptr(unsafe.Pointer(&t.b[0])) // a valid address
	}
	t.pace = (t.k + lanes.tileRows() - 1) / lanes.tileRows()
	lanes.runNative(t, vectors)
}

// genericTiles is the kernel in plain Go: blocks of 4 x 4 sums that the
// compiler keeps in registers, and one element at a time at the edges.
func genericTiles(t *tile) {
	for i := range t.count {
		a, b, c := t.a[i*t.aNext:], t.b[i*t.bNext:], t.c[i*t.cNext:]
		row := 0
		for ; row+4 <= t.rows; row += 4 {
			column := 0
			for ; column+4 <= t.columns; column += 4 {
				t.block4(a[row*t.aRow:], b[column:], c[row*t.cRow+column:])
			}
			for ; column < t.columns; column++ {
				for edge := row; edge < row+4; edge++ {
					t.element(a[edge*t.aRow:], b[column:], &c[edge*t.cRow+column])
				}
			}
		}
		for ; row < t.rows; row++ {
			for column := range t.columns {
				t.element(a[row*t.aRow:], b[column:], &c[row*t.cRow+column])
			}
		}
	}
}

func (t *tile) element(a, b []float32, c *float32) {
	var sum float32
	for p := range t.k {
		sum += a[p*t.aStep] * b[p*t.bStep]
	}
	t.store(c, sum)
}

func (t *tile) store(c *float32, sum float32) {
	if t.beta == 0 {
		*c = t.alpha * sum
	} else {
		*c = t.alpha*sum + t.beta**c
	}
}

func (t *tile) block4(a, b, c []float32) {
	var c00, c01, c02, c03, c10, c11, c12, c13 float32
	var c20, c21, c22, c23, c30, c31, c32, c33 float32
	r1, r2, r3 := t.aRow, 2*t.aRow, 3*t.aRow
	for p := range t.k {
		row := b[p*t.bStep:]
		row = row[:4]
		b0, b1, b2, b3 := row[0], row[1], row[2], row[3]
		at := p * t.aStep
		x := a[at]
		c00 += x * b0
		c01 += x * b1
		c02 += x * b2
		c03 += x * b3
		x = a[at+r1]
		c10 += x * b0
		c11 += x * b1
		c12 += x * b2
		c13 += x * b3
		x = a[at+r2]
		c20 += x * b0
		c21 += x * b1
		c22 += x * b2
		c23 += x * b3
		x = a[at+r3]
		c30 += x * b0
		c31 += x * b1
		c32 += x * b2
		c33 += x * b3
	}
	for i, sums := range [4][4]float32{{c00, c01, c02, c03}, {c10, c11, c12, c13}, {c20, c21, c22, c23}, {c30, c31, c32, c33}} {
		row := c[i*t.cRow:]
		for j := range sums {
			t.store(&row[j], sums[j])
		}
	}
}
