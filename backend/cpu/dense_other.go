//go:build !amd64

package cpu

func nativeDenseKernels(Path) (denseKernels, bool) { return denseKernels{}, false }

func (panelKernel) runNative(*tile, int) {
	panic("cpu: there are no vector kernels for this architecture")
}
