package cpu

//go:generate go run ./internal/asmgen

// denseKernels holds the dense kernels of one path.
type denseKernels struct {
	panels panelKernel

	transpose func(dst []float32, dstRow int, src []float32, srcRow, rows, columns int)
	exp, cos  func(dst, src []float32)

	// gramNarrow, if not nil, is Gram for 1 <= r <= narrowGram and n >= 1.
	gramNarrow func(dst, panel []float32, n, r int)

	// fma runs iterations of independent multiply-adds and returns the number
	// of floating-point operations.
	fma func(iterations int) float64
}

// denseKernelsFor returns the kernels of a path. It panics if this CPU does not
// support the path.
func denseKernelsFor(p Path) denseKernels {
	if p == Generic {
		return denseKernels{
			panels:    genericLanes,
			transpose: transpose,
			exp:       genericExp, cos: genericCos,
			fma: genericFMA,
		}
	}
	k, ok := nativeDenseKernels(p)
	if !ok {
		panic("cpu: this CPU does not support path " + string(p) + "; use one of Paths()")
	}
	return k
}
