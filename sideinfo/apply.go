package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Apply sets dst = A W; dst is n x w, weights m x w.
func Apply(b backend.Backend, op Operator, dst, weights []float32, w int) {
	n, m := op.Rows(), op.Columns()
	checkSizes("Apply", len(dst), n*w, len(weights), m*w)
	b.Gemm(false, false, n, w, m, 1, formed(op), m, weights, w, 0, dst, w)
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
