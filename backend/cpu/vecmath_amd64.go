package cpu

// The vector functions return the number of elements that they computed: all n,
// unless the next vector holds an argument out of range. The 256-bit functions
// require multiples of 8.

//go:noescape
func expVectors512(dst, src *float32, n int) int

//go:noescape
func cosVectors512(dst, src *float32, n int) int

//go:noescape
func expVectors256(dst, src *float32, n int) int

//go:noescape
func cosVectors256(dst, src *float32, n int) int

func exp512(dst, src []float32) {
	if len(src) > 0 {
		expVectors512(&dst[0], &src[0], len(src))
	}
}

func cos512(dst, src []float32) {
	for len(src) > 0 {
		done := cosVectors512(&dst[0], &src[0], len(src))
		dst, src = genericCosFrom(dst, src, done, 16)
	}
}

func exp256(dst, src []float32) {
	if whole := len(src) &^ 7; whole > 0 {
		expVectors256(&dst[0], &src[0], whole)
		dst, src = dst[whole:], src[whole:]
	}
	if len(src) > 0 {
		var last [8]float32
		copy(last[:], src)
		expVectors256(&last[0], &last[0], 8)
		copy(dst, last[:len(src)])
	}
}

func cos256(dst, src []float32) {
	for len(src) >= 8 {
		done := cosVectors256(&dst[0], &src[0], len(src)&^7)
		if done == len(src)&^7 {
			dst, src = dst[done:], src[done:]
			break
		}
		dst, src = genericCosFrom(dst, src, done, 8)
	}
	if len(src) > 0 {
		var last [8]float32
		copy(last[:], src)
		if cosVectors256(&last[0], &last[0], 8) == 0 {
			genericCos(last[:], last[:])
		}
		copy(dst, last[:len(src)])
	}
}

// genericCosFrom computes the vector after done with the slower method and
// returns the remaining elements.
func genericCosFrom(dst, src []float32, done, lanes int) (restDst, restSrc []float32) {
	end := min(len(src), done+lanes)
	genericCos(dst[done:end], src[done:end])
	return dst[end:], src[end:]
}
