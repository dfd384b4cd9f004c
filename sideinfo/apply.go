package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Apply sets dst = A W; dst is n x w, weights m x w.
func Apply(b backend.Backend, op Operator, dst, weights []float32, w int) {
	n, m := op.Rows(), op.Columns()
	if len(dst) != n*w || len(weights) != m*w {
		panic(fmt.Sprintf("sideinfo: Apply from %d values into %d, expected %d and %d", len(weights), len(dst), m*w, n*w))
	}
	a := op.Matrix()
	if a == nil {
		panic("sideinfo: the operator was restored without its matrix")
	}
	b.Gemm(false, false, n, w, m, 1, a, m, weights, w, 0, dst, w)
}
