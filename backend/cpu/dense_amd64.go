package cpu

import "golang.org/x/sys/cpu"

func nativeDenseKernels(p Path) (denseKernels, bool) {
	switch {
	case p == AVX512 && cpu.X86.HasAVX512F:
		return denseKernels{
			panels:    avx512Lanes,
			transpose: transposeAVX2,
			exp:       exp512, cos: cos512,
			gramNarrow: func(dst, panel []float32, n, r int) { gramNarrow512(&dst[0], &panel[0], n, r) },
			fma: func(iterations int) float64 {
				fmaLoop512(iterations)
				return float64(iterations) * 24 * 16 * 2
			},
		}, true
	case p == AVX2 && cpu.X86.HasAVX2:
		return denseKernels{
			panels:    avx2Lanes,
			transpose: transposeAVX2,
			exp:       exp256, cos: cos256,
			fma: func(iterations int) float64 {
				fmaLoop256(iterations)
				return float64(iterations) * 12 * 8 * 2
			},
		}, true
	}
	return denseKernels{}, false
}
