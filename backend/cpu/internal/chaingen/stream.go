package main

import "fmt"

// gatherRows writes the kernel of dst[c] = s[c] rows[idx[c]], s nil for 1.
func (g *generator) gatherRows() {
	g.function("GatherRows", 0, 0, param{"dst", dstReg}, param{"rows", rowsReg}, param{"idx", idxReg},
		param{"s", scaleReg}, param{"n", countReg}, param{"cols", colsReg}, param{"stride", strideReg})
	g.dispatch()
	for _, s := range g.shapes() {
		l := s.label()
		g.label("%s", l)
		g.cutMask(s)
		g.op("TESTQ", scaleReg, scaleReg)
		g.op("JEQ", l+"copy")
		for _, part := range []string{"scale", "copy"} {
			g.label("%s%s", l, part)
			g.rowOf(0, rowReg)
			g.op("ADDQ", rowsReg, rowReg)
			if part == "scale" {
				g.op("VBROADCASTSS", "("+scaleReg+")", s.reg(scaleVector))
				g.op("ADDQ", imm(4), scaleReg)
			}
			for v := range s.vectors {
				if part == "scale" {
					g.fused(s, v, rowReg, scaleVector, v, v, true)
				} else {
					g.load(s, v, rowReg, v)
				}
			}
			for v := range s.vectors {
				g.store(s, v, v, dstReg)
			}
			g.op("ADDQ", imm(4), idxReg)
			g.op("ADDQ", strideReg, dstReg)
			g.op("DECQ", countReg)
			g.op("JNE", l+part)
			g.done()
		}
	}
}

// scaleVector holds the factor of a row or of a vector.
const scaleVector = 8

// wide is the widest vector of the set.
func (g *generator) wide(vectors int, cut bool) shape {
	if g.opmask {
		return shape{'Z', vectors, cut}
	}
	return shape{'Y', vectors, cut}
}

// axpy writes the kernel of dst += a src for n > 0.
func (g *generator) axpy() {
	g.function("Axpy", 0, 0, param{"dst", dstReg}, param{"src", rowsReg}, param{"n", countReg}, param{"a", rowReg})
	s := g.wide(4, false)
	g.op("VMOVQ", rowReg, fmt.Sprintf("X%d", scaleVector))
	g.op("VBROADCASTSS", fmt.Sprintf("X%d", scaleVector), s.reg(scaleVector))
	step := func(s shape) {
		for v := range s.vectors {
			g.load(s, v, dstReg, v)
			g.fused(s, v, rowsReg, scaleVector, v, scaleVector+1+v, false)
			g.store(s, v, v, dstReg)
		}
	}
	g.stream("", s, []string{dstReg, rowsReg}, step)
	one := g.wide(1, false)
	g.stream("one", one, []string{dstReg, rowsReg}, step)
	g.op("JEQ", "done")
	g.op("MOVQ", countReg, colsReg)
	cut := g.wide(1, true)
	g.cutMask(cut)
	step(cut)
	g.label("done")
	g.done()
}

// stream repeats step while countReg holds a whole shape, and moves the
// pointers; the flags say after it whether anything is left.
func (g *generator) stream(prefix string, s shape, pointers []string, step func(shape)) {
	floats := s.lanes() * s.vectors
	g.op("SUBQ", imm(floats), countReg)
	g.op("JLT", prefix+"rest")
	g.label("%sturn", prefix)
	step(s)
	for _, p := range pointers {
		g.op("ADDQ", imm(4*floats), p)
	}
	g.op("SUBQ", imm(floats), countReg)
	g.op("JGE", prefix+"turn")
	g.label("%srest", prefix)
	g.op("ADDQ", imm(floats), countReg)
}

// dot writes the kernel of a . b in float64, in four vectors of doubles; n > 0.
func (g *generator) dot() {
	g.function("Dot", 0, 8, param{"a", dstReg}, param{"b", rowsReg}, param{"n", countReg})
	full, half := g.wide(1, false), shape{'Y', 1, false}
	if !g.opmask {
		half.class = 'X'
	}
	for i := range 4 {
		g.zero(full, i)
	}
	step := func(sums int) func(shape) {
		return func(shape) {
			for i := range sums {
				g.op("VCVTPS2PD", half.at(dstReg, i), full.reg(4+i))
				g.op("VCVTPS2PD", half.at(rowsReg, i), full.reg(8+i))
				g.op("VFMADD231PD", full.reg(4+i), full.reg(8+i), full.reg(i))
			}
		}
	}
	turn := half
	turn.vectors = 4
	g.stream("", turn, []string{dstReg, rowsReg}, step(4))
	g.stream("one", half, []string{dstReg, rowsReg}, step(1))
	g.op("JEQ", "sum")
	g.op("MOVQ", countReg, colsReg)
	half.cut = true
	g.cutMask(half)
	g.load(half, 0, dstReg, 4)
	g.load(half, 0, rowsReg, 8)
	g.op("VCVTPS2PD", half.reg(4), full.reg(4))
	g.op("VCVTPS2PD", half.reg(8), full.reg(8))
	g.op("VFMADD231PD", full.reg(4), full.reg(8), full.reg(0))
	g.label("sum")
	g.op("VADDPD", full.reg(2), full.reg(0), full.reg(0))
	g.op("VADDPD", full.reg(3), full.reg(1), full.reg(1))
	g.op("VADDPD", full.reg(1), full.reg(0), full.reg(0))
	if g.opmask {
		g.op("VEXTRACTF64X4", imm(1), "Z0", "Y1")
		g.op("VADDPD", "Y1", "Y0", "Y0")
	}
	g.op("VEXTRACTF128", imm(1), "Y0", "X1")
	g.op("VADDPD", "X1", "X0", "X0")
	g.op("VPERMILPD", imm(1), "X0", "X1")
	g.op("VADDSD", "X1", "X0", "X0")
	g.op("VMOVSD", "X0", "ret+24(FP)")
	g.done()
}
