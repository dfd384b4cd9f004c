package main

import "fmt"

// transpose8 emits the transposition of 8 rows of 8*blocks columns, in blocks
// of 8 x 8. The halves of rows i and i+4 are loaded into one register, so that
// two rounds of shuffles within lanes are sufficient.
func transpose8(a *Asm) {
	a.Text("transpose8", 40, "func transpose8(dst *float32, dstRow int, src *float32, srcRow int, blocks int)")
	a.Op("MOVQ", "dst+0(FP)", "DI")
	a.Op("MOVQ", "dstRow+8(FP)", "R8")
	a.Op("MOVQ", "src+16(FP)", "SI")
	a.Op("MOVQ", "srcRow+24(FP)", "R9")
	a.Op("MOVQ", "blocks+32(FP)", "CX")
	a.Op("SHLQ", "$2", "R8")
	a.Op("SHLQ", "$2", "R9")
	a.Op("LEAQ", "(R9)(R9*2)", "R10")
	a.Op("LEAQ", "(R8)(R8*2)", "R11")
	row := func(base, stride, triple string, i, disp int) string {
		switch i {
		case 0:
			return Mem(base, disp)
		case 3:
			return Indexed(base, disp, triple, 1)
		default:
			return Indexed(base, disp, stride, i)
		}
	}
	a.Countdown("CX", func() {
		a.Op("LEAQ", "(SI)(R9*4)", "BX")
		for half := range 2 {
			for i := range 4 {
				a.Op("VMOVUPS", row("SI", "R9", "R10", i, 16*half), X(4*half+i))
				a.Op("VINSERTF128", "$1", row("BX", "R9", "R10", i, 16*half), Y(4*half+i), Y(4*half+i))
			}
		}
		for half := range 2 {
			from := 4 * half
			a.Op("VUNPCKLPS", Y(from+1), Y(from), Y(8))
			a.Op("VUNPCKHPS", Y(from+1), Y(from), Y(9))
			a.Op("VUNPCKLPS", Y(from+3), Y(from+2), Y(10))
			a.Op("VUNPCKHPS", Y(from+3), Y(from+2), Y(11))
			for i := range 4 {
				low := 8 + i/2
				a.Op("VSHUFPS", fmt.Sprintf("$0x%x", 0x44+0xaa*(i%2)), Y(low+2), Y(low), Y(12+i))
			}
			for i := range 4 {
				a.Op("VMOVUPS", Y(12+i), row("DI", "R8", "R11", i, 0))
			}
			a.Op("LEAQ", "(DI)(R8*4)", "DI")
		}
		a.Op("ADDQ", "$32", "SI")
	})
	a.Return()
}
