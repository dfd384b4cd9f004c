package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// factored is an operator that is applied through factors and never formed.
type factored interface {
	apply(b backend.Backend, dst, weights []float32, w int)
	applyTranspose(b backend.Backend, dst, grad []float32, w int)
	// block writes rows of A.
	block(b backend.Backend, dst []float32, from, to int)
}

// Apply sets dst = A W; dst is n x w, weights m x w.
func Apply(b backend.Backend, op Operator, dst, weights []float32, w int) {
	n, m := op.Rows(), op.Columns()
	checkSizes("Apply", len(dst), n*w, len(weights), m*w)
	if f, ok := op.(factored); ok {
		f.apply(b, dst, weights, w)
		return
	}
	b.Gemm(false, false, n, w, m, 1, formed(op), m, weights, w, 0, dst, w)
}

// ApplyTranspose sets dst = A'G; dst is m x w, grad n x w.
func ApplyTranspose(b backend.Backend, op Operator, dst, grad []float32, w int) {
	n, m := op.Rows(), op.Columns()
	checkSizes("ApplyTranspose", len(dst), m*w, len(grad), n*w)
	if f, ok := op.(factored); ok {
		f.applyTranspose(b, dst, grad, w)
		return
	}
	b.Gemm(true, false, m, w, n, 1, formed(op), m, grad, w, 0, dst, w)
}

// SquareTranspose sets dst = (A o A)'D, the sum of d over entities weighted by
// the squares of A; dst is m x w, d is n x w.
func SquareTranspose(b backend.Backend, op Operator, dst, d []float32, w int) {
	n, m := op.Rows(), op.Columns()
	checkSizes("SquareTranspose", len(dst), m*w, len(d), n*w)
	square := make([]float32, min(chunk, n)*m)
	for from := 0; from < n; from += chunk {
		to := min(from+chunk, n)
		rows := square[:(to-from)*m]
		if f, ok := op.(factored); ok {
			f.block(b, rows, from, to)
		} else {
			copy(rows, formed(op)[from*m:to*m])
		}
		for i, v := range rows {
			rows[i] = v * v
		}
		b.Gemm(true, false, m, w, to-from, 1, rows, m, d[from*w:to*w], w, min(1, float32(from)), dst, w)
	}
}

func formed(op Operator) []float32 {
	a := op.Matrix()
	if a == nil {
		panic("sideinfo: the operator was restored without its matrix")
	}
	return a
}

func checkSizes(what string, dst, wantDst, src, wantSrc int) {
	if dst != wantDst || src != wantSrc {
		panic(fmt.Sprintf("sideinfo: %s from %d values into %d, expected %d and %d", what, src, dst, wantSrc, wantDst))
	}
}
