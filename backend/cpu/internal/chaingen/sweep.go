package main

// sweep describes a loop over cells that sums their rows times e (gather), adds
// e times a weight to rows (scatter), or both. If indexed, idx gives the row
// numbers; otherwise the rows are all rows of a matrix in order.
type sweep struct {
	name            string
	gather, scatter bool
	indexed         bool
}

// unroll is the number of cells per iteration of a sweep.
const unroll = 4

// sweepRegs are the vector registers of a sweep. The sets of sums begin at
// register 0.
type sweepRegs struct{ sets, weight, scale, tmp int }

// regsOf assigns the registers. Only rows of class Z use more than sixteen.
func (k sweep) regsOf(s shape) sweepRegs {
	switch {
	case s.class == 'Z':
		return sweepRegs{sets: 4, weight: 16, scale: 20, tmp: 24}
	case s.pieces > 2:
		return sweepRegs{sets: 2, weight: 8, scale: 12, tmp: 13}
	}
	return sweepRegs{sets: 4, weight: 8, scale: 12, tmp: 13}
}

// sweep emits the kernel. The sum is kept in several sets of registers, cell c
// of an iteration in set c mod sets, because a single set would wait four
// cycles for its last addition. The cells after the last full iteration go to
// set 0.
func (g *generator) sweep(k sweep) {
	var params []param
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
	params = append(params, param{"n", countReg}, param{"cols", lastReg}, param{"stride", strideReg})
	g.function(k.name, 0, 0, params...)
	g.dispatch()
	for _, s := range g.shapes() {
		g.sweepShape(k, s)
	}
}

func (g *generator) sweepShape(k sweep, s shape) {
	r, l := k.regsOf(s), s.label()
	g.enter(s)
	if k.scatter {
		for p := range s.pieces {
			g.load(s, p, weightReg, r.weight+p)
		}
	}
	if k.gather {
		for i := range r.sets * s.pieces {
			g.zero(s, i)
		}
	}
	g.op("SUBQ", imm(unroll), countReg)
	g.op("JLT", l+"rest")
	g.label(l + "turn")
	for c := range unroll {
		g.cell(k, s, r, c, c%r.sets)
	}
	g.advance(k, unroll)
	g.op("SUBQ", imm(unroll), countReg)
	g.op("JGE", l+"turn")
	g.label(l + "rest")
	g.op("ADDQ", imm(unroll), countReg)
	g.op("JEQ", l+"sum")
	g.label(l + "one")
	g.cell(k, s, r, 0, 0)
	g.advance(k, 1)
	g.op("DECQ", countReg)
	g.op("JNE", l+"one")
	g.label(l + "sum")
	if k.gather {
		g.addSets(s, r)
	}
	g.done()
}

// cell emits the work for cell c of an iteration.
func (g *generator) cell(k sweep, s shape, r sweepRegs, c, set int) {
	g.op("VBROADCASTSS", word(scaleReg, c), s.reg(r.scale))
	from, to := rowsReg, gradReg
	if k.indexed {
		g.offset(c)
		if k.scatter {
			to = gradRow
			g.op("LEAQ", "("+gradReg+")("+rowReg+"*1)", gradRow)
		}
		if k.gather {
			from = rowReg
			g.op("ADDQ", rowsReg, rowReg)
		}
	}
	if k.gather {
		for p := range s.pieces {
			g.accumulate(s, p, from, r.scale, set*s.pieces+p, r.tmp)
		}
	}
	if k.scatter {
		for p := range s.pieces {
			tmp := r.tmp + p%2
			g.load(s, p, to, tmp)
			g.op(s.arithmetic("VFMADD231"), s.reg(r.weight+p), s.reg(r.scale), s.reg(tmp))
			switch {
			case s.overlap && p == s.pieces-2:
				// The last piece must be read before this one is written.
			case s.overlap && p == s.pieces-1:
				g.store(s, p-1, r.tmp+(p-1)%2, to)
				g.store(s, p, tmp, to)
			default:
				g.store(s, p, tmp, to)
			}
		}
	}
	if !k.indexed {
		if k.gather {
			g.op("ADDQ", strideReg, from)
		} else {
			g.op("ADDQ", strideReg, to)
		}
	}
}

// advance emits the step to the n-th next cell. The pointer to the rows of a
// matrix has already moved.
func (g *generator) advance(k sweep, n int) {
	if k.indexed {
		g.op("ADDQ", imm(4*n), idxReg)
	}
	g.op("ADDQ", imm(4*n), scaleReg)
}

// addSets adds the sets pairwise, and the total to acc.
func (g *generator) addSets(s shape, r sweepRegs) {
	add := s.arithmetic("VADD")
	for half := r.sets / 2; half > 0; half /= 2 {
		for i := range half * s.pieces {
			g.op(add, s.reg(i+half*s.pieces), s.reg(i), s.reg(i))
		}
	}
	for p := range s.pieces {
		g.load(s, p, dstReg, r.tmp)
		g.op(add, s.reg(r.tmp), s.reg(p), s.reg(p))
	}
	for p := range s.pieces {
		g.store(s, p, p, dstReg)
	}
}
