package cpu

//go:generate go run ./internal/chaingen

func nativeChainKernels(p Path) (chainKernels, bool) {
	switch p {
	case AVX512:
		return chainKernelsAVX512(), true
	case AVX2:
		return chainKernelsAVX2(), true
	}
	return chainKernels{}, false
}
