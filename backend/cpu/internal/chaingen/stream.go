package main

import (
	"fmt"
	"slices"
)

// gatherRows emits the kernel of dst[c] = s[c] rows[idx[c]]; a nil s means 1.
func (g *generator) gatherRows() {
	g.function("GatherRows", 0, 0, param{"dst", dstReg}, param{"rows", rowsReg}, param{"idx", idxReg},
		param{"s", scaleReg}, param{"n", countReg}, param{"cols", lastReg}, param{"stride", strideReg})
	g.dispatch()
	for _, s := range g.shapes() {
		l := s.label()
		g.enter(s)
		g.op("TESTQ", scaleReg, scaleReg)
		g.op("JEQ", l+"copy")
		for _, part := range []string{"scale", "copy"} {
			g.label(l + part)
			g.offset(0)
			g.op("ADDQ", rowsReg, rowReg)
			if part == "scale" {
				g.op("VBROADCASTSS", word(scaleReg, 0), s.reg(scaleVector))
				g.op("ADDQ", imm(4), scaleReg)
			}
			for p := range s.pieces {
				if part == "scale" {
					g.multiply(s, p, rowReg, scaleVector, p)
				} else {
					g.load(s, p, rowReg, p)
				}
			}
			for p := range s.pieces {
				g.store(s, p, p, dstReg)
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

// widest returns a shape with the widest vectors of the instruction set.
func (g *generator) widest(pieces int) shape {
	if g.wide {
		return shape{'Z', pieces, false}
	}
	return shape{'Y', pieces, false}
}

// elements returns the shapes for element-by-element loops over a vector.
func (g *generator) elements() []shape {
	all := []shape{g.widest(4), g.widest(1), {'X', 1, false}, {'S', 1, false}}
	if g.wide {
		all = slices.Insert(all, 2, shape{'Y', 1, false})
	}
	return all
}

// axpy emits the kernel of dst += a src. The bits of a are in the low half of a
// word.
func (g *generator) axpy() {
	g.function("Axpy", 0, 0, param{"dst", dstReg}, param{"src", rowsReg}, param{"n", countReg}, param{"a", rowReg})
	g.op("VMOVQ", rowReg, fmt.Sprintf("X%d", scaleVector))
	g.op("VBROADCASTSS", fmt.Sprintf("X%d", scaleVector), g.widest(1).reg(scaleVector))
	for _, s := range g.elements() {
		g.stream(s, func() {
			for p := range s.pieces {
				g.load(s, p, dstReg, p)
				g.accumulate(s, p, rowsReg, scaleVector, p, scaleVector+1)
				g.store(s, p, p, dstReg)
			}
		})
	}
	g.done()
}

// product emits the kernel of dst = a b, element by element, or of dst += a b.
func (g *generator) product(name string, add bool) {
	g.function(name, 0, 0, param{"dst", dstReg}, param{"a", rowsReg}, param{"b", weightReg}, param{"n", countReg})
	for _, s := range g.elements() {
		g.stream(s, func() {
			for p := range s.pieces {
				g.load(s, p, rowsReg, p)
				if add {
					g.load(s, p, dstReg, p+s.pieces)
					g.accumulate(s, p, weightReg, p, p+s.pieces, scaleVector)
					g.store(s, p, p+s.pieces, dstReg)
				} else {
					g.multiply(s, p, weightReg, p, p)
					g.store(s, p, p, dstReg)
				}
			}
			g.op("ADDQ", imm(4*s.lanes()*s.pieces), weightReg)
		})
	}
	g.done()
}

// stream emits a loop that repeats step while countReg holds a whole shape, and
// advances both pointers.
func (g *generator) stream(s shape, step func()) {
	floats, l := s.lanes()*s.pieces, s.label()
	g.op("SUBQ", imm(floats), countReg)
	g.op("JLT", l+"rest")
	g.label(l + "turn")
	step()
	g.op("ADDQ", imm(4*floats), dstReg)
	g.op("ADDQ", imm(4*floats), rowsReg)
	g.op("SUBQ", imm(floats), countReg)
	g.op("JGE", l+"turn")
	g.label(l + "rest")
	g.op("ADDQ", imm(floats), countReg)
}

// dot emits the kernel of a . b in float64. The doubles of a piece fill one
// vector; four vectors are summed separately and then pairwise.
func (g *generator) dot() {
	g.function("Dot", 0, 8, param{"a", dstReg}, param{"b", rowsReg}, param{"n", countReg})
	double, half := g.widest(1), byte('X')
	if g.wide {
		half = 'Y'
	}
	for i := range 4 {
		g.zero(double, i)
	}
	for _, s := range []shape{{half, 4, false}, {half, 1, false}} {
		g.stream(s, func() {
			for p := range s.pieces {
				g.op("VCVTPS2PD", s.at(dstReg, p), double.reg(4+p))
				g.op("VCVTPS2PD", s.at(rowsReg, p), double.reg(8+p))
				g.op("VFMADD231PD", double.reg(4+p), double.reg(8+p), double.reg(p))
			}
		})
	}
	g.op("VADDPD", double.reg(2), double.reg(0), double.reg(0))
	g.op("VADDPD", double.reg(3), double.reg(1), double.reg(1))
	g.op("VADDPD", double.reg(1), double.reg(0), double.reg(0))
	if g.wide {
		g.op("VEXTRACTF64X4", imm(1), "Z0", "Y1")
		g.op("VADDPD", "Y1", "Y0", "Y0")
	}
	g.op("VEXTRACTF128", imm(1), "Y0", "X1")
	g.op("VADDPD", "X1", "X0", "X0")
	g.op("VPERMILPD", imm(1), "X0", "X1")
	g.op("VADDSD", "X1", "X0", "X0")
	one := shape{'S', 1, false}
	g.stream(one, func() {
		g.load(one, 0, dstReg, 1)
		g.load(one, 0, rowsReg, 2)
		g.op("VCVTSS2SD", "X1", "X1", "X1")
		g.op("VCVTSS2SD", "X2", "X2", "X2")
		g.op("VFMADD231SD", "X1", "X2", "X0")
	})
	g.op("VMOVSD", "X0", "ret+24(FP)")
	g.done()
}
