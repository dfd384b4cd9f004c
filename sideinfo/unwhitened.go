package sideinfo

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// unwhitened is the space of DualUnwhitened, and unwhitenedBefore its name in the
// states of older model files.
const (
	unwhitened       = "dual-unwhitened"
	unwhitenedBefore = "dual-paper"
)

// DualUnwhitened returns K + c itself, n x n, so that T = K V. It needs the kernel
// matrix and allows at most EigenLimit entities. K is ill-conditioned, and
// first-order steps on V stall. Dual is the same model in coordinates that train
// well, for any number of entities.
//
// The form T = Phi Phi' V with random features Phi is not offered. An operator is a
// matrix, and variances need the squares of its n x n entries. With W = Phi' V the form
// is T = Phi W, and its penalty V' Phi Phi' V is |W|^2, which is DualFourier.
func DualUnwhitened(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	if f.N > EigenLimit {
		return nil, nil, fielderr.Errorf("side.space", "space %s: %d ids are too many, because the space forms their kernel matrix (at most %d); use dual-rff, which is the form Phi Phi' V of random features with W = Phi' V, or dual", unwhitened, f.N, EigenLimit)
	}
	k, _, err := bindKernel(unwhitened, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	c := 0.0
	if !opt.NoIntercept {
		c = 1
	}
	opt.NoIntercept = true // the intercept is part of the matrix, not a column
	return newOperator(unwhitened, f, opt, &kernelColumns{k: k, x: f.rows(), c: c}, nil), nil, nil
}

// kernelColumns is the basis of the columns of the kernel matrix, k(x, X) + c.
type kernelColumns struct {
	fixed
	k kernel.Kernel
	x kernel.Rows
	c float64
}

func (w *kernelColumns) form() string { return "whole" }
func (w *kernelColumns) columns() int { return w.x.N }

func (w *kernelColumns) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, _ *scratch) {
	n := w.x.N
	if stride != n {
		panic("sideinfo: a kernel matrix has no columns besides those of its points")
	}
	kernel.Gram(b, dst, w.k, x, w.x)
	for i := range dst {
		dst[i] += float32(w.c)
	}
}
