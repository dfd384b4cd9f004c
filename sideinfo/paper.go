package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// PaperLimit is the most entities that DualPaper forms the kernel matrix of.
const PaperLimit = EigenLimit

// DualPaper returns K + c itself, n x n, as the paper writes the dual form:
// T = K V. K is ill-conditioned and first-order steps on V stall; Dual is the same
// model in coordinates that train, and for any number of entities.
func DualPaper(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	const kind = "dual-paper"
	if f.N > PaperLimit {
		return nil, nil, fmt.Errorf("%d ids are too many for the space %s, which forms their kernel matrix: at most %d; use dual", f.N, kind, PaperLimit)
	}
	k, _, err := fitted(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	c := 0.0
	if !opt.NoIntercept {
		c = 1
	}
	opt.NoIntercept = true // part of the matrix, not a column
	return newOperator(kind, f, opt, &whole{k: k, x: f.rows(), c: c}, nil), nil, nil
}

// whole is the basis of the kernel's own columns, k(x, X) + c.
type whole struct {
	fixed
	k kernel.Kernel
	x kernel.Rows
	c float64
}

func (w *whole) form() string { return "whole" }
func (w *whole) columns() int { return w.x.N }

func (w *whole) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, _ *scratch) {
	n := w.x.N
	if stride != n {
		panic("sideinfo: a kernel matrix has no further columns")
	}
	kernel.Gram(b, dst, w.k, x, w.x)
	for i := range dst {
		dst[i] += float32(w.c)
	}
}
