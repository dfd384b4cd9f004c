package cpu

// genericChainKernels returns the loops in portable Go.
func genericChainKernels() chainKernels {
	return chainKernels{
		dots:          chainDotsGeneric,
		gatherSum:     chainGatherSumGeneric,
		scatterAdd:    chainScatterAddGeneric,
		gatherScatter: chainGatherScatterGeneric,
		matVec:        chainMatVecGeneric,
		vecMat:        chainVecMatGeneric,
		rank1:         chainRank1Generic,
		gatherRows:    chainGatherRowsGeneric,
		add:           chainAddGeneric,
		axpy:          chainAxpyGeneric,
		product:       chainProductGeneric,
		addProduct:    chainAddProductGeneric,
		dot:           chainDotGeneric,
	}
}

// chainRow returns row i of a table of rows of length r.
func chainRow(rows []float32, i int32, r int) []float32 {
	at := int(i) * r
	return rows[at : at+r]
}

// chainShortDot sums in four interleaved lanes, which reduces the rounding
// error and allows the additions to overlap.
func chainShortDot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := (*[4]float32)(a[i:]), (*[4]float32)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func chainDotsGeneric(dst, rows []float32, idx []int32, w []float32) {
	dst = dst[:len(idx)]
	for c, i := range idx {
		dst[c] = chainShortDot(chainRow(rows, i, len(w)), w)
	}
}

func chainGatherSumGeneric(acc, rows []float32, idx []int32, e []float32) {
	e = e[:len(idx)]
	for c, i := range idx {
		chainAxpyGeneric(acc, e[c], chainRow(rows, i, len(acc)))
	}
}

func chainScatterAddGeneric(rows []float32, idx []int32, e, w []float32) {
	e = e[:len(idx)]
	for c, i := range idx {
		chainAxpyGeneric(chainRow(rows, i, len(w)), e[c], w)
	}
}

func chainGatherScatterGeneric(acc, grad, rows []float32, idx []int32, e, w []float32) {
	e, w = e[:len(idx)], w[:len(acc)]
	for c, i := range idx {
		chainAxpyGeneric(acc, e[c], chainRow(rows, i, len(acc)))
		chainAxpyGeneric(chainRow(grad, i, len(acc)), e[c], w)
	}
}

func chainMatVecGeneric(dst, m, x []float32) {
	for a := range dst {
		dst[a] += chainShortDot(chainRow(m, int32(a), len(x)), x)
	}
}

func chainVecMatGeneric(dst, u, m []float32) {
	for a, v := range u {
		chainAxpyGeneric(dst, v, chainRow(m, int32(a), len(dst)))
	}
}

func chainRank1Generic(m, u, x []float32) {
	for a, v := range u {
		chainAxpyGeneric(chainRow(m, int32(a), len(x)), v, x)
	}
}

func chainGatherRowsGeneric(dst, rows []float32, idx []int32, s []float32, r int) {
	for c, i := range idx {
		to, from := chainRow(dst, int32(c), r), chainRow(rows, i, r)
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

func chainAddGeneric(dst, src []float32) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += src[i]
	}
}

func chainAxpyGeneric(dst []float32, a float32, src []float32) {
	src = src[:len(dst)]
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		to, from := (*[4]float32)(dst[i:]), (*[4]float32)(src[i:])
		to[0] += a * from[0]
		to[1] += a * from[1]
		to[2] += a * from[2]
		to[3] += a * from[3]
	}
	for ; i < len(dst); i++ {
		dst[i] += a * src[i]
	}
}

func chainProductGeneric(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
}

func chainAddProductGeneric(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] += a[i] * b[i]
	}
}

func chainDotGeneric(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		x, y := (*[4]float32)(a[i:]), (*[4]float32)(b[i:])
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}
