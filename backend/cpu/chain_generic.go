package cpu

// genericChainKernels returns the loops in portable Go.
func genericChainKernels() chainKernels {
	return chainKernels{
		dots:          dotsGeneric,
		gatherSum:     gatherSumGeneric,
		scatterAdd:    scatterAddGeneric,
		gatherScatter: gatherScatterGeneric,
		matVec:        matVecGeneric,
		vecMat:        vecMatGeneric,
		rank1:         rank1Generic,
		gatherRows:    gatherRowsGeneric,
		add:           addGeneric,
		axpy:          axpyGeneric,
		dot:           dotGeneric,
	}
}

// row returns row i of a table of rows of length r.
func row(rows []float32, i int32, r int) []float32 {
	at := int(i) * r
	return rows[at : at+r]
}

// dotGeneric32 sums in four interleaved lanes, which halves the rounding and
// lets the additions overlap.
func dotGeneric32(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func dotsGeneric(dst, rows []float32, idx []int32, w []float32) {
	dst = dst[:len(idx)]
	for c, i := range idx {
		dst[c] = dotGeneric32(row(rows, i, len(w)), w)
	}
}

func gatherSumGeneric(acc, rows []float32, idx []int32, e []float32) {
	e = e[:len(idx)]
	for c, i := range idx {
		axpyGeneric(acc, e[c], row(rows, i, len(acc)))
	}
}

func scatterAddGeneric(rows []float32, idx []int32, e, w []float32) {
	e = e[:len(idx)]
	for c, i := range idx {
		axpyGeneric(row(rows, i, len(w)), e[c], w)
	}
}

func gatherScatterGeneric(acc, grad, rows []float32, idx []int32, e, w []float32) {
	e, w = e[:len(idx)], w[:len(acc)]
	for c, i := range idx {
		axpyGeneric(acc, e[c], row(rows, i, len(acc)))
		axpyGeneric(row(grad, i, len(acc)), e[c], w)
	}
}

func matVecGeneric(dst, m, x []float32) {
	for a := range dst {
		dst[a] += dotGeneric32(row(m, int32(a), len(x)), x)
	}
}

func vecMatGeneric(dst, u, m []float32) {
	for a, v := range u {
		axpyGeneric(dst, v, row(m, int32(a), len(dst)))
	}
}

func rank1Generic(m, u, x []float32) {
	for a, v := range u {
		axpyGeneric(row(m, int32(a), len(x)), v, x)
	}
}

func gatherRowsGeneric(dst, rows []float32, idx []int32, s []float32, r int) {
	for c, i := range idx {
		to, from := row(dst, int32(c), r), row(rows, i, r)
		if s == nil {
			copy(to, from)
			continue
		}
		scale := s[c]
		for j, x := range from {
			to[j] = scale * x
		}
	}
}

func addGeneric(dst, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

func axpyGeneric(dst []float32, a float32, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += a * src[i]
	}
}

func dotGeneric(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0]) * float64(b[0])
		s1 += float64(a[1]) * float64(b[1])
		s2 += float64(a[2]) * float64(b[2])
		s3 += float64(a[3]) * float64(b[3])
		a, b = a[4:], b[4:]
	}
	for i, x := range a {
		s0 += float64(x) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
