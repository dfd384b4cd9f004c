package main

import "fmt"

// The tile kernels compute, for each of count matrices, rows x (vectors*lanes)
// blocks of C = alpha A B + beta C. A tile of C stays in registers over the
// whole of k: each step loads one row of B and broadcasts one element of every
// row of A. Each element of C is one chain of fused multiply-adds in the order
// of k, regardless of the tile that contains it, so the partition of the rows
// does not affect the bits of the result.

// isa describes the differences between the instruction sets.
type isa struct {
	suffix string
	lanes  int
	reg    func(int) string
	b      [2]int // registers for the row of B
	spare  []int  // registers for broadcasts
	masked bool   // opmask registers K1, K2 at the edges; otherwise vector masks
	zero   string // instruction that clears a register
}

var (
	avx512 = isa{suffix: "512", lanes: 16, reg: Z, b: [2]int{30, 31}, spare: []int{24, 25, 26, 27, 28, 29}, masked: true, zero: "VPXORD"}
	avx2   = isa{suffix: "256", lanes: 8, reg: Y, b: [2]int{12, 13}, spare: []int{14, 15}, zero: "VXORPS"}
)

// Registers with the same content throughout a kernel.
const (
	regA     = "R8"  // first row of A of the tile
	regB     = "SI"  // first row of B
	regC     = "DI"  // first row of C of the tile
	regRows  = "DX"  // remaining rows
	regARow  = "R9"  // bytes from a row of A to the next
	regARow3 = "R10" // three times that
	regAStep = "R11" // bytes from a column of A to the next
	regBStep = "R12" // bytes from a row of B to the next
	regTile  = "AX"  // the argument, outside the innermost loop
	regLanes = "R15" // vector masks of the columns, AVX2 only
)

// rowsPerCursor is the number of rows of A that are addressed from one pointer
// by the index modes base, base+row, base+2row, base+3row, base+4row.
const rowsPerCursor = 5

var cursors = []string{"R13", "R14", "R15", "AX"}

func rowOperand(i int) string {
	cursor := cursors[i/rowsPerCursor]
	switch i % rowsPerCursor {
	case 0:
		return Mem(cursor, 0)
	case 3:
		return Indexed(cursor, 0, regARow3, 1)
	default:
		return Indexed(cursor, 0, regARow, i%rowsPerCursor)
	}
}

func tiles512x2(a *Asm) { tiles(a, avx512, 12, 2) }
func tiles512x1(a *Asm) { tiles(a, avx512, 16, 1) }
func tiles256x2(a *Asm) { tiles(a, avx2, 6, 2) }
func tiles256x1(a *Asm) { tiles(a, avx2, 8, 1) }

// tiles emits the kernel for panels of the given number of vectors, with
// register tiles of up to maxRows rows.
func tiles(a *Asm, s isa, maxRows, vectors int) {
	name := fmt.Sprintf("tiles%sx%d", s.suffix, vectors)
	a.TextFrame(name, 80, 8, "func "+name+"(t *tile)")
	a.Op("MOVQ", "t+0(FP)", regTile)
	for _, stride := range [][2]string{{"aRow", regARow}, {"aStep", regAStep}, {"bStep", regBStep}} {
		a.Op("MOVQ", "tile_"+stride[0]+"(AX)", stride[1])
		a.Op("SHLQ", "$2", stride[1])
	}
	a.Op("LEAQ", Indexed(regARow, 0, regARow, 2), regARow3)
	a.Op("MOVQ", "tile_a(AX)", regA)
	a.Op("MOVQ", "tile_b(AX)", regB)
	a.Op("MOVQ", "tile_c(AX)", regC)
	a.Op("MOVQ", "tile_count(AX)", "CX")
	a.Op("MOVQ", "CX", "left-8(SP)")
	if vectors == 2 {
		a.Op("MOVQ", "tile_ahead(AX)", "CX")
		a.Op("MOVQ", "CX", "ahead-40(SP)")
		a.Op("MOVQ", "tile_aheadStep(AX)", "CX")
		a.Op("MOVQ", "CX", "aheadStep-48(SP)")
		a.Op("MOVQ", "tile_cRow(AX)", "CX")
		a.Op("SHLQ", "$2", "CX")
		a.Op("MOVQ", "CX", "cRow-72(SP)")
		a.Op("MOVQ", "tile_pace(AX)", "CX")
		a.Op("MOVQ", "CX", "pace-80(SP)")
	}
	if s.masked {
		a.Op("MOVL", "tile_mask(AX)", "CX")
		a.Op("KMOVW", "CX", "K1")
		a.Op("SHRL", "$16", "CX")
		a.Op("KMOVW", "CX", "K2")
	}

	a.Label("matrix")
	a.Op("MOVQ", regA, "a-16(SP)")
	a.Op("MOVQ", regB, "b-24(SP)")
	a.Op("MOVQ", regC, "c-32(SP)")
	a.Op("MOVQ", "tile_rows(AX)", regRows)

	a.Label("next")
	a.Comment("height of the next tile: full, all remaining rows, or half of them rounded up")
	a.Op("CMPQ", regRows, Imm(maxRows+maxRows/2))
	a.Op("JGE", fmt.Sprintf("rows%d", maxRows))
	a.Op("MOVQ", regRows, "CX")
	a.Op("CMPQ", regRows, Imm(maxRows))
	a.Op("JLE", "dispatch")
	a.Op("INCQ", "CX")
	a.Op("SHRQ", "$1", "CX")
	a.Label("dispatch")
	dispatch(a, 1, maxRows)

	for rows := maxRows; rows >= 1; rows-- {
		tileBody(a, s, rows, vectors, rows == maxRows)
	}

	a.Label("done")
	a.Op("DECQ", "left-8(SP)")
	a.Op("JZ", "return")
	for _, matrix := range [][3]string{{"a-16(SP)", "aNext", regA}, {"b-24(SP)", "bNext", regB}, {"c-32(SP)", "cNext", regC}} {
		a.Op("MOVQ", "tile_"+matrix[1]+"(AX)", "CX")
		a.Op("MOVQ", matrix[0], matrix[2])
		a.Op("LEAQ", Indexed(matrix[2], 0, "CX", 4), matrix[2])
	}
	a.Op("JMP", "matrix")
	a.Label("return")
	a.Return()
}

// dispatch emits a jump to the label rowsN, where N is the value of CX, by
// bisection.
func dispatch(a *Asm, low, high int) {
	if low == high {
		a.Op("JMP", fmt.Sprintf("rows%d", low))
		return
	}
	middle := (low + high) / 2
	above := a.NewLabel("above")
	a.Op("CMPQ", "CX", Imm(middle))
	a.Op("JGT", above)
	dispatch(a, low, middle)
	a.Label(above)
	dispatch(a, middle+1, high)
}

// tileBody emits one register tile: clearing, the loop over k, and the store to
// memory. The full tile has its loop twice, with and without masks on the loads
// of B, because a masked load occupies a slot of the multiply units.
func tileBody(a *Asm, s isa, rows, vectors int, full bool) {
	a.Label(fmt.Sprintf("rows%d", rows))
	a.Op("MOVQ", "tile_k(AX)", "CX")
	if !s.masked {
		a.Op("MOVQ", "tile_lanes(AX)", regLanes)
	}
	a.Op("MOVQ", regB, "BX")
	a.Op("TESTL", "$const_tileEdge", "tile_flags(AX)")
	used := cursors[:(rows+rowsPerCursor-1)/rowsPerCursor]
	for i, cursor := range used {
		if i == 0 {
			a.Op("MOVQ", regA, cursor)
		} else {
			a.Op("LEAQ", Indexed(used[i-1], 0, regARow, 4), cursor)
			a.Op("LEAQ", Indexed(cursor, 0, regARow, 1), cursor)
		}
	}
	for i := range rows * vectors {
		a.Op(s.zero, s.reg(i), s.reg(i), s.reg(i))
	}
	step := func(masked bool) func() {
		return func() {
			tileStep(a, s, rows, vectors, masked)
			a.Op("ADDQ", regBStep, "BX")
			for _, cursor := range used {
				a.Op("ADDQ", regAStep, cursor)
			}
		}
	}
	if full {
		edge, end := a.NewLabel("edge"), a.NewLabel("end")
		a.Op("JNZ", edge)
		if vectors == 2 {
			pacedSteps(a, s, vectors, step(false))
		} else {
			a.Countdown("CX", step(false))
		}
		a.Op("JMP", end)
		a.Label(edge)
		a.Countdown("CX", step(true))
		a.Label(end)
	} else {
		a.Countdown("CX", step(true))
	}
	tileStore(a, s, rows, vectors)
	a.Op("SUBQ", Imm(rows), regRows)
	a.Op("JZ", "done")
	a.Op("IMUL3Q", Imm(rows), regARow, "CX")
	a.Op("ADDQ", "CX", regA)
	a.Op("JMP", "next")
}

// pacedSteps emits the loop over k of the full tile. Every pace steps it
// prefetches one more row of C, which the tile will be added to or written
// over, so that the rows arrive while the sums are computed and not all at
// once. Each step prefetches one more cache line of what will be read after
// this tile.
func pacedSteps(a *Asm, s isa, vectors int, step func()) {
	row, pace := regA, regRows // free during the loop
	a.Op("MOVQ", regRows, "rows-56(SP)")
	a.Op("MOVQ", regA, "tileA-64(SP)")
	a.Op("MOVQ", regC, row)
	a.Op("MOVQ", "ahead-40(SP)", "AX")
	more := a.NewLabel("more")
	a.Label(more)
	width := vectors * 4 * s.lanes
	for line := 0; line < width; line += 64 {
		a.Op("PREFETCHT0", Mem(row, line))
	}
	a.Op("PREFETCHT0", Mem(row, width-4)) // a row may start anywhere in a line
	a.Op("ADDQ", "cRow-72(SP)", row)
	a.Op("MOVQ", "pace-80(SP)", pace)
	a.Op("CMPQ", "CX", pace)
	a.Op("CMOVQLT", "CX", pace)
	a.Op("SUBQ", pace, "CX")
	a.Countdown(pace, func() {
		a.Op("PREFETCHT0", "(AX)")
		a.Op("ADDQ", "aheadStep-48(SP)", "AX")
		step()
	})
	a.Op("TESTQ", "CX", "CX")
	a.Op("JNZ", more)
	a.Op("MOVQ", "AX", "ahead-40(SP)")
	a.Op("MOVQ", "rows-56(SP)", regRows)
	a.Op("MOVQ", "tileA-64(SP)", regA)
}

// tileStep emits one step of k: a row of B times one column of the rows of A.
func tileStep(a *Asm, s isa, rows, vectors int, masked bool) {
	for v := range vectors {
		b, from := s.reg(s.b[v]), Mem("BX", v*4*s.lanes)
		switch {
		case masked && s.masked:
			a.Op("VMOVUPS.Z", from, opmask(v), b)
		case masked:
			a.Op("VMOVUPS", Mem(regLanes, v*4*s.lanes), b)
			a.Op("VMASKMOVPS", from, b, b)
		default:
			a.Op("VMOVUPS", from, b)
		}
	}
	for i := range rows {
		if vectors == 1 && s.masked {
			a.Op("VFMADD231PS.BCST", rowOperand(i), s.reg(s.b[0]), s.reg(i))
			continue
		}
		x := s.reg(s.spare[i%len(s.spare)])
		a.Op("VBROADCASTSS", rowOperand(i), x)
		for v := range vectors {
			a.Op("VFMADD231PS", x, s.reg(s.b[v]), s.reg(i*vectors+v))
		}
	}
}

// tileStore emits C = alpha*tile + beta*C for one register tile and leaves regC
// at the row after it. With beta = 0 C is not read.
func tileStore(a *Asm, s isa, rows, vectors int) {
	unscaled, overwrite, end := a.NewLabel("unscaled"), a.NewLabel("overwrite"), a.NewLabel("end")
	factor := s.reg(s.spare[0])
	a.Op("MOVQ", "t+0(FP)", regTile)
	a.Op("MOVQ", "tile_cRow(AX)", "BX")
	a.Op("SHLQ", "$2", "BX")
	a.Op("TESTL", "$const_tileScale", "tile_flags(AX)")
	a.Op("JZ", unscaled)
	a.Op("VBROADCASTSS", "tile_alpha(AX)", factor)
	for i := range rows * vectors {
		a.Op("VMULPS", factor, s.reg(i), s.reg(i))
	}
	a.Label(unscaled)
	a.Op("TESTL", "$const_tileAdd", "tile_flags(AX)")
	a.Op("JZ", overwrite)
	a.Op("VBROADCASTSS", "tile_beta(AX)", factor)
	storeRows(a, s, rows, vectors, true)
	a.Op("JMP", end)
	a.Label(overwrite)
	storeRows(a, s, rows, vectors, false)
	a.Label(end)
}

// storeRows emits the store of the tile, plus the factor times the old content
// if add is set. AVX2 has a separate branch for full columns, because its
// masked stores are very slow on some processors.
func storeRows(a *Asm, s isa, rows, vectors int, add bool) {
	factor, old := s.reg(s.spare[0]), s.reg(s.spare[1])
	each := func(do func(v int, at, sum string)) {
		for i := range rows {
			for v := range vectors {
				do(v, Mem(regC, v*4*s.lanes), s.reg(i*vectors+v))
			}
			a.Op("ADDQ", "BX", regC)
		}
	}
	// All rows are read before the first is written: a masked store delays
	// every later load that overlaps its whole vector.
	twice := func(load, store func(v int, at, sum string)) {
		if add {
			a.Op("MOVQ", regC, "CX")
			each(load)
			a.Op("MOVQ", "CX", regC)
		}
		each(store)
	}
	if s.masked {
		twice(func(v int, at, sum string) {
			a.Op("VFMADD231PS", at, factor, opmask(v), sum)
		}, func(v int, at, sum string) {
			a.Op("VMOVUPS", sum, opmask(v), at)
		})
		return
	}
	edge, end := a.NewLabel("edge"), a.NewLabel("end")
	a.Op("TESTL", "$const_tileEdge", "tile_flags(AX)")
	a.Op("JNZ", edge)
	twice(func(v int, at, sum string) {
		a.Op("VFMADD231PS", at, factor, sum)
	}, func(v int, at, sum string) {
		a.Op("VMOVUPS", sum, at)
	})
	a.Op("JMP", end)
	a.Label(edge)
	for v := range vectors {
		a.Op("VMOVUPS", Mem(regLanes, v*4*s.lanes), s.reg(s.b[v]))
	}
	twice(func(v int, at, sum string) {
		a.Op("VMASKMOVPS", at, s.reg(s.b[v]), old)
		a.Op("VFMADD231PS", old, factor, sum)
	}, func(v int, at, sum string) {
		a.Op("VMASKMOVPS", sum, s.reg(s.b[v]), at)
	})
	a.Label(end)
}

// opmask returns the mask register for the columns of vector v.
func opmask(v int) string { return fmt.Sprintf("K%d", v+1) }
