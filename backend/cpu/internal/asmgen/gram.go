package main

import "fmt"

// maxGram is the largest order whose whole Gram matrix fits in registers, one
// row in each.
const maxGram = 16

// gram512 emits the Gram matrix of a narrow panel: dst += panel' panel. There
// is a separate body for each order r, in which every address is one register
// and a constant. Bodies for small r process several rows of the panel at once,
// with separate sums, to hide the latency of the multiply-adds.
func gram512(a *Asm) {
	a.Text("gramNarrow512", 32, "func gramNarrow512(dst, panel *float32, n, r int)")
	a.Op("MOVQ", "dst+0(FP)", "DI")
	a.Op("MOVQ", "panel+8(FP)", "SI")
	a.Op("MOVQ", "n+16(FP)", "DX")
	a.Op("MOVQ", "r+24(FP)", "CX")
	a.Op("MOVL", "$1", "AX")
	a.Op("SHLL", "CX", "AX")
	a.Op("DECL", "AX")
	a.Op("KMOVW", "AX", "K1")
	dispatch(a, 1, maxGram)
	for r := 1; r <= maxGram; r++ {
		gramBody(a, r)
	}
}

func gramBody(a *Asm, r int) {
	reg, width := Z, 16
	switch {
	case r <= 4:
		reg, width = X, 4
	case r <= 8:
		reg, width = Y, 8
	}
	load := func(from, to string) {
		if r == width {
			a.Op("VMOVUPS", from, to)
		} else {
			a.Op("VMOVUPS.Z", from, "K1", to)
		}
	}
	sets := 1
	switch {
	case r <= 4:
		sets = 4
	case r <= 8:
		sets = 2
	}
	sum := func(set, i int) string { return reg(set*r + i) }
	row := func(set int) {
		at, b := 4*r*set, reg(31-set)
		load(Mem("SI", at), b)
		for i := range r {
			a.Op("VFMADD231PS.BCST", Mem("SI", at+4*i), b, sum(set, i))
		}
	}

	a.Label(fmt.Sprintf("rows%d", r))
	for i := range sets * r {
		a.Op("VPXORD", reg(i), reg(i), reg(i))
	}
	last := a.NewLabel("last")
	if sets > 1 {
		a.Op("SUBQ", Imm(sets), "DX")
		a.Op("JLT", last)
		several := a.NewLabel("several")
		a.Label(several)
		for set := range sets {
			row(set)
		}
		a.Op("ADDQ", Imm(4*r*sets), "SI")
		a.Op("SUBQ", Imm(sets), "DX")
		a.Op("JGE", several)
		a.Label(last)
		a.Op("ADDQ", Imm(sets), "DX")
		last = a.NewLabel("none")
		a.Op("JZ", last)
	}
	a.Countdown("DX", func() {
		row(0)
		a.Op("ADDQ", Imm(4*r), "SI")
	})
	if sets > 1 {
		a.Label(last)
	}
	for half := sets / 2; half > 0; half /= 2 {
		for set := range half {
			for i := range r {
				a.Op("VADDPS", sum(set+half, i), sum(set, i), sum(set, i))
			}
		}
	}
	// All rows are read before the first is written, as in storeRows.
	for i := range r {
		if r == width {
			a.Op("VADDPS", Mem("DI", 4*r*i), sum(0, i), sum(0, i))
		} else {
			a.Op("VADDPS", Mem("DI", 4*r*i), sum(0, i), "K1", sum(0, i))
		}
	}
	for i := range r {
		if r == width {
			a.Op("VMOVUPS", sum(0, i), Mem("DI", 4*r*i))
		} else {
			a.Op("VMOVUPS", sum(0, i), "K1", Mem("DI", 4*r*i))
		}
	}
	a.Return()
}
