//go:build !amd64

package cpu

func nativeChainKernels(Path) (chainKernels, bool) { return chainKernels{}, false }
