package main

import "fmt"

// block is the number of dot products that are summed together: their vectors
// are reduced by a tree that shares its shuffles, and the results are stored at
// once.
const block = 8

// Registers of dots in addition to those of all kernels: the eight cells are in
// vector registers 0 to 7.
const (
	dotsTmp       = 8
	dotsWeight    = 10 // to 13
	dotsWeightZ   = 16 // to 19
	dotsOrder     = 31
	dotsKeep      = 14 // AVX2: mask of the results of a block; AVX-512 has it in K2
	accumulateReg = "R13"
)

// dots emits the kernel of dst[c] = rows[idx[c]] . w or, if not indexed, of
// dst[a] += m[a] . w over the rows of a matrix.
//
// The cells after the last full block form a block too: missing entries of idx
// are read as row 0, and only the requested results are stored. So every cell
// is summed in the same order regardless of its position.
func (g *generator) dots(indexed bool) {
	params := []param{{"dst", dstReg}, {"rows", rowsReg}}
	name := "MatVec"
	if indexed {
		name = "Dots"
		params = append(params, param{"idx", idxReg})
	}
	params = append(params, param{"w", weightReg}, param{"n", countReg}, param{"cols", lastReg}, param{"stride", strideReg})
	if indexed {
		params = append(params, param{"accumulate", accumulateReg})
	}
	g.function(name, 4*block, 0, params...)
	if !indexed {
		g.op("LEAQ", g.symbol("Iota")+"(SB)", idxReg)
	}
	g.dispatch()
	for _, s := range g.shapes() {
		g.dotsShape(s, indexed)
	}
}

func (g *generator) dotsShape(s shape, indexed bool) {
	l := s.label()
	g.enter(s)
	g.dotsWeights(s)
	g.op("SUBQ", imm(block), countReg)
	g.op("JLT", l+"rest")

	g.label(l + "turn")
	switch s.class {
	case 'S':
		g.dotsScalars(s)
	case 'D', 'X':
		g.dotsShort(s)
	case 'Y':
		g.dotsProducts(s, dotsWeight)
		g.reduceY()
	case 'Z':
		g.dotsProducts(s, dotsWeightZ)
		g.reduceZ()
	}
	g.op("TESTQ", countReg, countReg)
	g.op("JLT", l+"some")
	if indexed {
		g.op("TESTQ", accumulateReg, accumulateReg)
		g.op("JEQ", l+"put")
	}
	g.op("VADDPS", word(dstReg, 0), "Y0", "Y0")
	if indexed {
		g.label(l + "put")
	}
	g.op("VMOVUPS", "Y0", word(dstReg, 0))
	g.op("ADDQ", imm(4*block), dstReg)
	if indexed {
		g.op("ADDQ", imm(4*block), idxReg)
	} else {
		g.op("LEAQ", fmt.Sprintf("(%s)(%s*8)", rowsReg, strideReg), rowsReg)
	}
	g.op("SUBQ", imm(block), countReg)
	g.op("JGE", l+"turn")

	g.label(l + "rest")
	g.op("ADDQ", imm(block), countReg)
	g.op("JEQ", l+"done")
	g.keepFirst()
	g.op("MOVQ", "$-1", countReg)
	g.op("JMP", l+"turn")

	g.label(l + "some")
	if indexed {
		g.op("TESTQ", accumulateReg, accumulateReg)
		g.op("JEQ", l+"putsome")
	}
	g.addKept()
	if indexed {
		g.label(l + "putsome")
	}
	g.putKept()
	g.label(l + "done")
	g.done()
}

func y(i int) string { return fmt.Sprintf("Y%d", i) }

// keepFirst prepares a block from the last countReg cells: the mask of its
// results, and its row numbers followed by zeros.
func (g *generator) keepFirst() {
	if g.wide {
		g.op("MOVL", "$-1", rowReg)
		g.op("SHLL", countReg, rowReg)
		g.op("NOTL", rowReg)
		g.op("KMOVW", rowReg, "K2")
		g.op("VMOVDQU32.Z", word(idxReg, 0), "K2", "Y0")
	} else {
		g.op("LEAQ", g.symbol("Lanes")+"+32(SB)", rowReg)
		g.op("NEGQ", countReg)
		g.op("VMOVDQU", fmt.Sprintf("(%s)(%s*4)", rowReg, countReg), y(dotsKeep))
		g.op("VPMASKMOVD", word(idxReg, 0), y(dotsKeep), "Y0")
	}
	g.op("VMOVDQU", "Y0", "rest-32(SP)")
	g.op("LEAQ", "rest-32(SP)", idxReg)
}

// addKept adds dst to the requested results in Y0.
func (g *generator) addKept() {
	if g.wide {
		g.op("VADDPS", word(dstReg, 0), "Y0", "K2", "Y0")
		return
	}
	g.op("VMASKMOVPS", word(dstReg, 0), y(dotsKeep), y(dotsTmp))
	g.op("VADDPS", y(dotsTmp), "Y0", "Y0")
}

// putKept stores the requested results in Y0.
func (g *generator) putKept() {
	if g.wide {
		g.op("VMOVUPS", "Y0", "K2", word(dstReg, 0))
		return
	}
	g.op("VMASKMOVPS", "Y0", y(dotsKeep), word(dstReg, 0))
}

// dotsWeights loads w in the form that the products of the shape need. If the
// last piece overlaps the previous one, the lanes that are already counted are
// zero.
func (g *generator) dotsWeights(s shape) {
	weight := dotsWeight
	switch {
	case s.class == 'Z':
		weight = dotsWeightZ
		g.op("VMOVDQU32", g.symbol("Order")+"(SB)", s.reg(dotsOrder))
		g.op("MOVL", "$0xFF00", rowReg)
		g.op("KMOVW", rowReg, "K3")
	case s.class == 'S':
		g.op("VBROADCASTSS", word(weightReg, 0), y(weight))
		return
	case s.class == 'D' && s.pieces == 1:
		g.op("VBROADCASTSS", word(weightReg, 0), y(weight))
		g.op("VBROADCASTSS", word(weightReg, 1), y(weight+1))
		return
	case s.class == 'D':
		g.loadThree(weightReg, weight)
		g.op("VINSERTF128", imm(1), s.reg(weight), y(weight), y(weight))
		return
	}
	for p := range s.pieces {
		g.load(s, p, weightReg, weight+p)
	}
	if s.overlap {
		g.keepLast(s, weight+s.pieces-1)
	}
	if s.class == 'X' && s.pieces == 1 {
		g.op("VINSERTF128", imm(1), s.reg(weight), y(weight), y(weight))
	}
}

// keepLast clears the lanes of the last piece that overlap the previous piece.
// lastReg has 4 (cols - lanes), and cols - lanes (pieces - 1) lanes stay.
func (g *generator) keepLast(s shape, reg int) {
	if s.class == 'Z' {
		// The first lanes (pieces - 1) - (cols - lanes) lanes overlap: shift a
		// mask by that number, for which the count must be in countReg.
		g.op("MOVQ", countReg, gradRow)
		g.op("MOVQ", lastReg, countReg)
		g.op("SHRQ", imm(2), countReg)
		g.op("NEGQ", countReg)
		g.op("ADDQ", imm(s.lanes()*(s.pieces-1)), countReg)
		g.op("MOVL", "$-1", rowReg)
		g.op("SHLL", countReg, rowReg)
		g.op("KMOVW", rowReg, "K1")
		g.op("MOVQ", gradRow, countReg)
		g.op("VMOVAPS.Z", s.reg(reg), "K1", s.reg(reg))
		return
	}
	// The window of the last n = cols - lanes (pieces - 1) lanes begins at word
	// 8 + n, or four words later for a vector of four.
	g.op("LEAQ", g.symbol("Lanes")+"(SB)", rowReg)
	first := 8 + 8 - s.lanes() - s.lanes()*(s.pieces-2)
	g.op("VANDPS", fmt.Sprintf("%d(%s)(%s*1)", 4*first, rowReg, lastReg), s.reg(reg), s.reg(reg))
}

// dotsRow sets rowReg to the address of the row of cell c of the block.
func (g *generator) dotsRow(c int) {
	g.offset(c)
	g.op("ADDQ", rowsReg, rowReg)
}

// dotsProducts computes row c times w, summed over the pieces, in register c.
func (g *generator) dotsProducts(s shape, weight int) {
	for c := range block {
		g.dotsRow(c)
		g.multiply(s, 0, rowReg, weight, c)
		for p := 1; p < s.pieces; p++ {
			g.accumulate(s, p, rowReg, weight+p, c, dotsTmp)
		}
	}
}

// reduceZ sums the lanes of Z0 to Z7 to the eight floats of Y0: lane i with
// i+8, then i+4, i+2 and i+1.
func (g *generator) reduceZ() {
	const z0, z1, z2, z4, z6, t = "Z0", "Z1", "Z2", "Z4", "Z6", "Z8"
	for a := 0; a < block; a += 2 {
		x, y := fmt.Sprintf("Z%d", a), fmt.Sprintf("Z%d", a+1)
		tmp := fmt.Sprintf("Z%d", dotsTmp+a/2)
		g.op("VBLENDMPS", y, x, "K3", tmp)
		g.op("VSHUFF64X2", "$0x4E", y, x, x)
		g.op("VADDPS", tmp, x, x)
	}
	for _, p := range [][3]string{{z0, z2, "Z8"}, {z4, z6, "Z9"}} {
		g.op("VSHUFF64X2", "$0x88", p[1], p[0], p[2])
		g.op("VSHUFF64X2", "$0xDD", p[1], p[0], p[0])
		g.op("VADDPS", p[2], p[0], p[0])
	}
	g.op("VSHUFPS", "$0x44", z4, z0, t)
	g.op("VSHUFPS", "$0xEE", z4, z0, z0)
	g.op("VADDPS", t, z0, z0)
	g.op("VMOVSHDUP", z0, z1)
	g.op("VADDPS", z1, z0, z0)
	g.op("VPERMPS", z0, fmt.Sprintf("Z%d", dotsOrder), z0)
}

// reduceY sums the lanes of Y0 to Y7 to the eight floats of Y0: lane i with
// i+4, then i+2 and i+1.
func (g *generator) reduceY() {
	for a := range block / 2 {
		x, b, tmp := y(a), y(a+4), y(dotsTmp+a%2)
		g.op("VBLENDPS", "$0xF0", b, x, tmp)
		g.op("VPERM2F128", "$0x21", b, x, x)
		g.op("VADDPS", tmp, x, x)
	}
	g.reduceQuads()
}

// reduceQuads sums the groups of four lanes of Y0 to Y3, where Yc holds cells c
// and c+4.
func (g *generator) reduceQuads() {
	for _, a := range []int{0, 2} {
		g.op("VSHUFPS", "$0x44", y(a+1), y(a), y(dotsTmp))
		g.op("VSHUFPS", "$0xEE", y(a+1), y(a), y(a))
		g.op("VADDPS", y(dotsTmp), y(a), y(a))
	}
	g.op("VSHUFPS", "$0x88", "Y2", "Y0", y(dotsTmp))
	g.op("VSHUFPS", "$0xDD", "Y2", "Y0", "Y0")
	g.op("VADDPS", y(dotsTmp), "Y0", "Y0")
}

// dotsShort emits the block for rows of two to seven columns.
func (g *generator) dotsShort(s shape) {
	switch {
	case s.class == 'D' && s.pieces == 1:
		g.dotsPairs(s)
		return
	case s.class == 'X' && s.pieces == 2:
		g.dotsProducts(s, dotsWeight)
		for c := range block / 2 {
			g.op("VINSERTF128", imm(1), s.reg(c+4), y(c), y(c))
		}
	default:
		g.dotsQuads(s)
	}
	g.reduceQuads()
}

// loadThree loads a row of three columns followed by a zero.
func (g *generator) loadThree(base string, dst int) {
	d := shape{'D', 1, false}
	g.load(d, 0, base, dst)
	g.op("VINSERTPS", "$0x20", word(base, 2), d.reg(dst), d.reg(dst))
}

// dotsQuads computes rows c and c+4 of three or four columns times w in Yc.
func (g *generator) dotsQuads(s shape) {
	for c := range block / 2 {
		upper := word(rowReg, 0)
		g.dotsRow(c)
		if s.class == 'D' {
			g.loadThree(rowReg, c)
			g.dotsRow(c + 4)
			g.loadThree(rowReg, dotsTmp)
			upper = s.reg(dotsTmp)
		} else {
			g.load(s, 0, rowReg, c)
			g.dotsRow(c + 4)
		}
		g.op("VINSERTF128", imm(1), upper, y(c), y(c))
		g.op("VMULPS", y(dotsWeight), y(c), y(c))
	}
}

// dotsPairs emits the block for rows of two columns.
func (g *generator) dotsPairs(s shape) {
	for half := range 2 {
		for _, p := range []struct{ cell, reg int }{{2 * half, half}, {2*half + 4, dotsTmp + half}} {
			g.dotsRow(p.cell)
			g.load(s, 0, rowReg, p.reg)
			g.dotsRow(p.cell + 1)
			g.op("VMOVHPS", "("+rowReg+")", s.reg(p.reg), s.reg(p.reg))
		}
		g.op("VINSERTF128", imm(1), s.reg(dotsTmp+half), y(half), y(half))
	}
	g.op("VSHUFPS", "$0xDD", "Y1", "Y0", "Y2")
	g.op("VSHUFPS", "$0x88", "Y1", "Y0", "Y0")
	g.op("VMULPS", y(dotsWeight), "Y0", "Y0")
	g.op("VFMADD231PS", y(dotsWeight+1), "Y2", "Y0")
}

// dotsScalars emits the block for rows of one column.
func (g *generator) dotsScalars(s shape) {
	for half := range 2 {
		for c := range 4 {
			g.dotsRow(4*half + c)
			if c == 0 {
				g.load(s, 0, rowReg, half)
				continue
			}
			g.op("VINSERTPS", imm(c<<4), "("+rowReg+")", s.reg(half), s.reg(half))
		}
	}
	g.op("VINSERTF128", imm(1), "X1", "Y0", "Y0")
	g.op("VMULPS", y(dotsWeight), "Y0", "Y0")
}
