package main

import "fmt"

// block is how many dot products are summed together: their vectors are
// reduced by a tree that shares its shuffles, and stored at once.
const block = 8

// Registers of dots beside those of all kernels: the eight cells are in
// registers 0 to 7.
const (
	dotsTmp       = 8
	dotsWeight    = 10 // to 13 in AVX2
	dotsWeightZ   = 16
	dotsOrder     = 31
	dotsKeep      = 14 // AVX2's mask of the results of a block; AVX-512 has it in K2
	accumulateReg = "R13"
)

// dots writes the kernel of dst[c] = rows[idx[c]] . w or, where it is not
// indexed, of dst[a] += m[a] . w over the rows of a matrix.
//
// The cells after the last block are a block too: what idx lacks is read as
// row 0, and only the results that were asked for are stored. So every cell is
// summed in the same order wherever it stands.
func (g *generator) dots(indexed bool) {
	params := []param{{"dst", dstReg}, {"rows", rowsReg}}
	name := "MatVec"
	if indexed {
		name = "Dots"
		params = append(params, param{"idx", idxReg})
	}
	params = append(params, param{"w", weightReg}, param{"n", countReg}, param{"cols", colsReg}, param{"stride", strideReg})
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
	g.label("%s", l)
	g.cutMask(s)
	g.dotsWeights(s)
	if g.opmask {
		g.op("MOVL", "$0xFF", rowReg)
		g.op("KMOVW", rowReg, "K2")
	} else {
		g.op("VPCMPEQD", y(dotsKeep), y(dotsKeep), y(dotsKeep))
	}
	g.op("SUBQ", imm(block), countReg)
	g.op("JLT", l+"rest")

	g.label("%sturn", l)
	switch s.class {
	case 'S':
		g.dotsScalars(s)
	case 'D':
		g.dotsPairs(s)
	case 'X':
		g.dotsQuads(s)
	case 'Y':
		g.dotsProducts(s, dotsWeight)
		g.reduceY()
	case 'Z':
		g.dotsProducts(s, dotsWeightZ)
		g.reduceZ()
	}
	if indexed {
		g.op("TESTQ", accumulateReg, accumulateReg)
		g.op("JEQ", l+"put")
	}
	g.addKept()
	if indexed {
		g.label("%sput", l)
	}
	g.putKept()
	g.op("ADDQ", imm(4*block), dstReg)
	if indexed {
		g.op("ADDQ", imm(4*block), idxReg)
	} else {
		g.op("LEAQ", fmt.Sprintf("(%s)(%s*8)", rowsReg, strideReg), rowsReg)
	}
	g.op("SUBQ", imm(block), countReg)
	g.op("JGE", l+"turn")

	g.label("%srest", l)
	g.op("ADDQ", imm(block), countReg)
	g.op("JLE", l+"done")
	g.maskOf(countReg, "K2", y(dotsKeep))
	g.op("XORL", countReg, countReg)
	if g.opmask {
		g.op("VMOVDQU32.Z", "("+idxReg+")", "K2", "Y0")
	} else {
		g.op("VPMASKMOVD", "("+idxReg+")", y(dotsKeep), "Y0")
	}
	g.op("VMOVDQU", "Y0", "rest-32(SP)")
	g.op("LEAQ", "rest-32(SP)", idxReg)
	g.op("JMP", l+"turn")
	g.label("%sdone", l)
	g.done()
}

func y(i int) string { return fmt.Sprintf("Y%d", i) }

// addKept adds dst to the results in Y0.
func (g *generator) addKept() {
	if g.opmask {
		g.op("VADDPS", "("+dstReg+")", "Y0", "K2", "Y0")
		return
	}
	g.op("VMASKMOVPS", "("+dstReg+")", y(dotsKeep), y(dotsTmp))
	g.op("VADDPS", y(dotsTmp), "Y0", "Y0")
}

// putKept stores the results in Y0.
func (g *generator) putKept() {
	if g.opmask {
		g.op("VMOVUPS", "Y0", "K2", "("+dstReg+")")
		return
	}
	g.op("VMASKMOVPS", "Y0", y(dotsKeep), "("+dstReg+")")
}

// dotsWeights loads w in the form that the products of the shape want.
func (g *generator) dotsWeights(s shape) {
	switch s.class {
	case 'S':
		g.op("VBROADCASTSS", "("+weightReg+")", y(dotsWeight))
	case 'D':
		g.op("VBROADCASTSS", "("+weightReg+")", y(dotsWeight))
		g.op("VBROADCASTSS", "4("+weightReg+")", y(dotsWeight+1))
	case 'X':
		g.load(s, 0, weightReg, dotsWeight)
		g.op("VINSERTF128", imm(1), s.reg(dotsWeight), y(dotsWeight), y(dotsWeight))
	case 'Y':
		for v := range s.vectors {
			g.load(s, v, weightReg, dotsWeight+v)
		}
	case 'Z':
		for v := range s.vectors {
			g.load(s, v, weightReg, dotsWeightZ+v)
		}
		g.op("VMOVDQU32", g.symbol("Order")+"(SB)", s.reg(dotsOrder))
		g.op("MOVL", "$0xFF00", rowReg)
		g.op("KMOVW", rowReg, "K3")
	}
}

// dotsRow points rowReg at the row of cell c of the block.
func (g *generator) dotsRow(c int) {
	g.rowOf(c, rowReg)
	g.op("ADDQ", rowsReg, rowReg)
}

// dotsProducts leaves row c times w, summed over the pieces, in register c.
func (g *generator) dotsProducts(s shape, weight int) {
	for c := range block {
		g.dotsRow(c)
		for v := range s.vectors {
			g.fused(s, v, rowReg, weight+v, c, dotsTmp, v == 0)
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

// reduceQuads sums the fours of Y0 to Y3, where Yc holds cells c and c+4.
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

// dotsQuads is the block for rows of three or four.
func (g *generator) dotsQuads(s shape) {
	for c := range block / 2 {
		g.dotsRow(c)
		g.load(s, 0, rowReg, c)
		g.dotsRow(c + 4)
		upper := "(" + rowReg + ")"
		if s.cut {
			g.load(s, 0, rowReg, dotsTmp)
			upper = s.reg(dotsTmp)
		}
		g.op("VINSERTF128", imm(1), upper, y(c), y(c))
		g.op("VMULPS", y(dotsWeight), y(c), y(c))
	}
	g.reduceQuads()
}

// dotsPairs is the block for rows of two.
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

// dotsScalars is the block for rows of one.
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
