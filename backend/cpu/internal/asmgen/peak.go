package main

// A register-only loop of independent fused multiply-adds: 24 accumulators are
// more than enough to cover the latency of two units.

func peakAVX512(a *Asm) { peak(a, "fmaLoop512", Z, 24, 31, 30) }

func peakAVX2(a *Asm) { peak(a, "fmaLoop256", Y, 12, 15, 14) }

func peak(a *Asm, name string, reg func(int) string, accumulators, x, y int) {
	a.Text(name, 8, "func "+name+"(iterations int)")
	a.Op("MOVQ", "iterations+0(FP)", "CX")
	a.Op("VBROADCASTSS", a.Float32(0.5), reg(x))
	a.Op("VBROADCASTSS", a.Float32(0.25), reg(y))
	for i := range accumulators {
		a.Op("VMOVAPS", reg(y), reg(i))
	}
	a.Countdown("CX", func() {
		for i := range accumulators {
			a.Op("VFMADD231PS", reg(x), reg(y), reg(i))
		}
	})
	a.Return()
}
