package cpu

import (
	"fmt"
	"math"
)

// Exp sets dst[i] = e^src[i] with a relative error below 1e-6: +Inf above the
// largest float32, 0 below the smallest, NaN for NaN. dst may be src.
func Exp(p Path, dst, src []float32) {
	checkSameLength("Exp", dst, src)
	denseKernelsFor(p).exp(dst, src)
}

// Cos sets dst[i] = cos src[i] with an absolute error below 1e-6 for every
// finite argument, NaN for NaN and infinities. Arguments beyond 131072 use a
// slower method. dst may be src.
func Cos(p Path, dst, src []float32) {
	checkSameLength("Cos", dst, src)
	denseKernelsFor(p).cos(dst, src)
}

func checkSameLength(name string, dst, src []float32) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("cpu: %s: src has %d elements, dst has %d", name, len(src), len(dst)))
	}
}

func genericExp(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(math.Exp(float64(x)))
	}
}

func genericCos(dst, src []float32) {
	for i, x := range src {
		dst[i] = float32(math.Cos(float64(x)))
	}
}
