package cpu

//go:generate go run ./internal/asmgen

// denseKernels are the dense kernels of one path.
type denseKernels struct {
	panels panelKernel

	transpose func(dst []float32, dstRow int, src []float32, srcRow, rows, columns int)
	exp, cos  func(dst, src []float32)

	// gramNarrow, where there is one, is Gram for r of at most narrowGram and
	// at least one row.
	gramNarrow func(dst, panel []float32, n, r int)

	// fma runs iterations of independent multiply-adds and returns how many
	// floating-point operations that was.
	fma func(iterations int) float64
}

// denseKernelsFor returns the kernels of a path. It panics where this machine
// cannot run it.
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
		panic("cpu: path " + string(p) + " is not one of Paths()")
	}
	return k
}
