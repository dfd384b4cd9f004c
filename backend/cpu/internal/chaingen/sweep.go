package main

import "fmt"

// sweep is a loop over cells that sums their rows times e (gather), adds e
// times a weight to rows (scatter), or both. Rows are those that idx names or,
// where it is not indexed, all rows of a matrix in turn.
type sweep struct {
	name            string
	gather, scatter bool
	indexed         bool
}

// unroll is how many cells a turn of a sweep takes.
const unroll = 4

// sweep writes the kernel. The sum is kept in several sets of registers, cell
// c of a turn in set c mod sets, because one set would wait four cycles for
// its last addition; the cells after the last turn go to set 0.
func (g *generator) sweep(k sweep) {
	params := []param{}
	if k.gather {
		params = append(params, param{"acc", dstReg})
	}
	if k.scatter {
		params = append(params, param{"grad", gradReg})
	}
	if k.gather {
		params = append(params, param{"rows", rowsReg})
	}
	if k.indexed {
		params = append(params, param{"idx", idxReg})
	}
	params = append(params, param{"e", scaleReg})
	if k.scatter {
		params = append(params, param{"w", weightReg})
	}
	params = append(params, param{"n", countReg}, param{"cols", colsReg}, param{"stride", strideReg})
	g.function(k.name, 0, 0, params...)
	g.dispatch()
	for _, s := range g.shapes() {
		g.sweepShape(k, s)
	}
}

// sweepRegs are the vector registers of a sweep over one shape.
type sweepRegs struct{ sets, weight, scale, tmp int }

// regsOf shares the registers out. Only rows of Z reach beyond the first sixteen.
func (k sweep) regsOf(s shape) sweepRegs {
	switch {
	case s.class == 'Z':
		return sweepRegs{sets: 4, weight: 16, scale: 20, tmp: 24}
	case s.vectors > 2:
		return sweepRegs{sets: 2, weight: 8, scale: 12, tmp: 13}
	}
	return sweepRegs{sets: 4, weight: 8, scale: 12, tmp: 13}
}

func (g *generator) sweepShape(k sweep, s shape) {
	r := k.regsOf(s)
	g.label("%s", s.label())
	g.cutMask(s)
	if k.scatter {
		for v := range s.vectors {
			g.load(s, v, weightReg, r.weight+v)
		}
	}
	if k.gather {
		for i := range r.sets * s.vectors {
			g.zero(s, i)
		}
	}
	g.op("SUBQ", imm(unroll), countReg)
	g.op("JLT", s.label()+"rest")
	g.label("%sturn", s.label())
	for c := range unroll {
		g.cell(k, s, r, c, c%r.sets)
	}
	g.advance(k, unroll)
	g.op("SUBQ", imm(unroll), countReg)
	g.op("JGE", s.label()+"turn")
	g.label("%srest", s.label())
	g.op("ADDQ", imm(unroll), countReg)
	g.op("JEQ", s.label()+"sum")
	g.label("%sone", s.label())
	g.cell(k, s, r, 0, 0)
	g.advance(k, 1)
	g.op("DECQ", countReg)
	g.op("JNE", s.label()+"one")
	g.label("%ssum", s.label())
	if k.gather {
		g.addSets(s, r)
	}
	g.done()
}

// cell does the work of word c of the turn.
func (g *generator) cell(k sweep, s shape, r sweepRegs, c, set int) {
	g.op("VBROADCASTSS", fmt.Sprintf("%d(%s)", 4*c, scaleReg), s.reg(r.scale))
	from, to := rowsReg, gradReg
	if k.indexed {
		g.rowOf(c, rowReg)
		if k.scatter {
			to = gradRow
			g.op("LEAQ", fmt.Sprintf("(%s)(%s*1)", gradReg, rowReg), gradRow)
		}
		if k.gather {
			from = rowReg
			g.op("ADDQ", rowsReg, rowReg)
		}
	}
	if k.gather {
		for v := range s.vectors {
			g.fused(s, v, from, r.scale, set*s.vectors+v, r.tmp, false)
		}
	}
	if k.scatter {
		for v := range s.vectors {
			g.load(s, v, to, r.tmp)
			name := "VFMADD231PS"
			if s.class == 'S' {
				name = "VFMADD231SS"
			}
			g.op(name, s.reg(r.weight+v), s.reg(r.scale), s.reg(r.tmp))
			g.store(s, v, r.tmp, to)
		}
	}
	if !k.indexed {
		base := from
		if k.scatter {
			base = to
		}
		g.op("ADDQ", strideReg, base)
	}
}

// advance moves on by n cells; the rows of a matrix have moved already.
func (g *generator) advance(k sweep, n int) {
	if k.indexed {
		g.op("ADDQ", imm(4*n), idxReg)
	}
	g.op("ADDQ", imm(4*n), scaleReg)
}

// addSets adds the sets pairwise, and the total to acc.
func (g *generator) addSets(s shape, r sweepRegs) {
	add := "VADDPS"
	if s.class == 'S' {
		add = "VADDSS"
	}
	for half := r.sets / 2; half > 0; half /= 2 {
		for i := range half * s.vectors {
			g.op(add, s.reg(i+half*s.vectors), s.reg(i), s.reg(i))
		}
	}
	for v := range s.vectors {
		g.load(s, v, dstReg, r.tmp)
		g.op(add, s.reg(v), s.reg(r.tmp), s.reg(r.tmp))
		g.store(s, v, r.tmp, dstReg)
	}
}
