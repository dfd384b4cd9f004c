package cpu

// The suffix gives the vector width in bits and the number of vectors in a
// panel.

//go:noescape
func tiles512x2(t *tile)

//go:noescape
func tiles512x1(t *tile)

//go:noescape
func tiles256x2(t *tile)

//go:noescape
func tiles256x1(t *tile)

// transpose8 writes the transpose of the 8 x 8*blocks matrix at src to dst.
//
//go:noescape
func transpose8(dst *float32, dstRow int, src *float32, srcRow int, blocks int)

// runNative computes one panel of the given number of vectors. The calls are
// static so that tiles can be allocated on the stack.
func (lanes panelKernel) runNative(t *tile, vectors int) {
	switch {
	case lanes == avx512Lanes && vectors == 1:
		tiles512x1(t)
	case lanes == avx512Lanes:
		tiles512x2(t)
	case vectors == 1:
		tiles256x1(t)
	default:
		tiles256x2(t)
	}
}
