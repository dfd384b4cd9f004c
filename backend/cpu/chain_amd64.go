package cpu

import (
	"math"
	"unsafe"
)

//go:generate go run ./internal/chaingen

// chainAssembly is the assembly of one path. Its functions take up to width
// columns of n > 0 rows that are stride floats apart; wider rows are done in
// blocks of columns by the methods below.
type chainAssembly struct {
	width         int
	dots          func(dst, rows *float32, idx *int32, w *float32, n, cols, stride, accumulate int)
	matVec        func(dst, rows, w *float32, n, cols, stride int)
	gatherSum     func(acc, rows *float32, idx *int32, e *float32, n, cols, stride int)
	scatterAdd    func(grad *float32, idx *int32, e, w *float32, n, cols, stride int)
	gatherScatter func(acc, grad, rows *float32, idx *int32, e, w *float32, n, cols, stride int)
	vecMat        func(acc, rows, e *float32, n, cols, stride int)
	rank1         func(grad, e, w *float32, n, cols, stride int)
	gatherRows    func(dst, rows *float32, idx *int32, s *float32, n, cols, stride int)
	axpy          func(dst, src *float32, n int, a uint64)
	dot           func(a, b *float32, n int) float64
}

func nativeChainKernels(p Path) (chainKernels, bool) {
	var a chainAssembly
	switch p {
	case AVX512:
		a = chainAssembly{
			width:         64,
			dots:          chainDotsAVX512,
			matVec:        chainMatVecAVX512,
			gatherSum:     chainGatherSumAVX512,
			scatterAdd:    chainScatterAddAVX512,
			gatherScatter: chainGatherScatterAVX512,
			vecMat:        chainVecMatAVX512,
			rank1:         chainRank1AVX512,
			gatherRows:    chainGatherRowsAVX512,
			axpy:          chainAxpyAVX512,
			dot:           chainDotAVX512,
		}
	case AVX2:
		a = chainAssembly{
			width:         32,
			dots:          chainDotsAVX2,
			matVec:        chainMatVecAVX2,
			gatherSum:     chainGatherSumAVX2,
			scatterAdd:    chainScatterAddAVX2,
			gatherScatter: chainGatherScatterAVX2,
			vecMat:        chainVecMatAVX2,
			rank1:         chainRank1AVX2,
			gatherRows:    chainGatherRowsAVX2,
			axpy:          chainAxpyAVX2,
			dot:           chainDotAVX2,
		}
	default:
		return chainKernels{}, false
	}
	return chainKernels{
		dots:          a.runDots,
		gatherSum:     a.runGatherSum,
		scatterAdd:    a.runScatterAdd,
		gatherScatter: a.runGatherScatter,
		matVec:        a.runMatVec,
		vecMat:        a.runVecMat,
		rank1:         a.runRank1,
		gatherRows:    a.runGatherRows,
		add:           func(dst, src []float32) { a.runAxpy(dst, 1, src) },
		axpy:          a.runAxpy,
		dot:           a.runDot,
	}, true
}

// The columns left of the first block are reached by moving the pointers, and
// every length is checked here, once a call: the loops trust it.

func (a *chainAssembly) runDots(dst, rows []float32, idx []int32, w []float32) {
	n, r := len(idx), len(w)
	dst = dst[:n]
	if n == 0 {
		return
	}
	if r == 0 {
		clear(dst)
		return
	}
	for at := 0; at < r; at += a.width {
		a.dots(&dst[0], &rows[at], &idx[0], &w[at], n, min(r-at, a.width), r, at)
	}
}

func (a *chainAssembly) runMatVec(dst, m, x []float32) {
	n, r := len(dst), len(x)
	m = m[:n*r]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.matVec(&dst[0], &m[at], &x[at], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runGatherSum(acc, rows []float32, idx []int32, e []float32) {
	n, r := len(idx), len(acc)
	e = e[:n]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.gatherSum(&acc[at], &rows[at], &idx[0], &e[0], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runScatterAdd(rows []float32, idx []int32, e, w []float32) {
	n, r := len(idx), len(w)
	e = e[:n]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.scatterAdd(&rows[at], &idx[0], &e[0], &w[at], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runGatherScatter(acc, grad, rows []float32, idx []int32, e, w []float32) {
	n, r := len(idx), len(acc)
	e, w = e[:n], w[:r]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.gatherScatter(&acc[at], &grad[at], &rows[at], &idx[0], &e[0], &w[at], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runVecMat(dst, u, m []float32) {
	n, r := len(u), len(dst)
	m = m[:n*r]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.vecMat(&dst[at], &m[at], &u[0], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runRank1(m, u, x []float32) {
	n, r := len(u), len(x)
	m = m[:n*r]
	if n == 0 {
		return
	}
	for at := 0; at < r; at += a.width {
		a.rank1(&m[at], &u[0], &x[at], n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runGatherRows(dst, rows []float32, idx []int32, s []float32, r int) {
	n := len(idx)
	dst = dst[:n*r]
	if n == 0 {
		return
	}
	if s != nil {
		s = s[:n]
	}
	for at := 0; at < r; at += a.width {
		a.gatherRows(&dst[at], &rows[at], &idx[0], unsafe.SliceData(s), n, min(r-at, a.width), r)
	}
}

func (a *chainAssembly) runAxpy(dst []float32, scale float32, src []float32) {
	n := len(dst)
	src = src[:n]
	if n > 0 {
		a.axpy(&dst[0], &src[0], n, uint64(math.Float32bits(scale)))
	}
}

func (a *chainAssembly) runDot(x, y []float32) float64 {
	n := len(x)
	y = y[:n]
	if n == 0 {
		return 0
	}
	return a.dot(&x[0], &y[0], n)
}
