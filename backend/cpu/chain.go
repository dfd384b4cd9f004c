package cpu

// chainKernels holds the inner loops of a pass over a tensor train for one
// path. Arrays are dense and row-major. A table of rows of length r is one
// slice, and idx holds row numbers that the caller has validated.
//
// The order of every sum depends on the lengths of the arguments only, so the
// same inputs give the same bits.
//
// For n cells and rows of length r, dots costs 2nr flops, gatherSum and
// scatterAdd 2nr each, gatherScatter 4nr; matVec, vecMat and rank1 cost 2 left
// right.
type chainKernels struct {
	// dots: dst[c] = rows[idx[c]] . w, where r = len(w) and len(dst) =
	// len(idx). The result of a cell does not depend on its position in the
	// call.
	dots func(dst, rows []float32, idx []int32, w []float32)
	// gatherSum: acc += sum_c e[c] rows[idx[c]], where r = len(acc).
	gatherSum func(acc, rows []float32, idx []int32, e []float32)
	// scatterAdd: rows[idx[c]] += e[c] w for c = 0, 1, ..., where r = len(w).
	// idx may contain a row more than once.
	scatterAdd func(rows []float32, idx []int32, e, w []float32)
	// gatherScatter: acc += sum_c e[c] rows[idx[c]] and grad[idx[c]] += e[c] w
	// in one sweep, where r = len(acc) = len(w).
	gatherScatter func(acc, grad, rows []float32, idx []int32, e, w []float32)
	// matVec: dst += m x, where m is len(dst) x len(x).
	matVec func(dst, m, x []float32)
	// vecMat: dst += u' m, where m is len(u) x len(dst).
	vecMat func(dst, u, m []float32)
	// rank1: m += u x', where m is len(u) x len(x).
	rank1 func(m, u, x []float32)
	// gatherRows: dst[c] = s[c] rows[idx[c]] as rows of length r; a nil s means 1.
	gatherRows func(dst, rows []float32, idx []int32, s []float32, r int)
	// add: dst += src.
	add func(dst, src []float32)
	// axpy: dst += a src.
	axpy func(dst []float32, a float32, src []float32)
	// product: dst = a b, element by element.
	product func(dst, a, b []float32)
	// addProduct: dst += a b, element by element.
	addProduct func(dst, a, b []float32)
	// dot is a . b, multiplied and summed in float64.
	dot func(a, b []float32) float64
}

// chainKernelsFor returns the loops of a path, which must be one of Paths().
func chainKernelsFor(p Path) chainKernels {
	if k, ok := nativeChainKernels(p); ok {
		return k
	}
	return genericChainKernels()
}
