package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// PaperLimit is the number of entities up to which DualPaper forms the kernel
// matrix.
const PaperLimit = EigenLimit

// DualPaper returns K + c itself, n x n, as the paper writes the dual form:
// T = K V. Above PaperLimit entities K is Phi Phi' with random features and is
// never formed. K is ill-conditioned and first-order steps on V stall; Dual is
// the same model in coordinates that train.
func DualPaper(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	const kind = "dual-paper"
	k, _, err := fitted(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	if f.N <= PaperLimit {
		c := 0.0
		if !opt.NoIntercept {
			c = 1
		}
		opt.NoIntercept = true // part of the matrix, not a column
		return newOperator(kind, f, opt, &whole{k: k, x: f.rows(), c: c}, nil), nil, nil
	}
	features := opt.columns()
	s := kernel.Sample(k, features, stream.New(opt.Seed, "random features"))
	notice := fmt.Sprintf("%d entities: the kernel matrix is Phi Phi' with %d random features", f.N, s.Columns())
	return newOuter(f, opt, &waves{k: k, features: features, spectrum: s}), []string{notice}, nil
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

func (w *whole) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows) {
	n := w.x.N
	if stride != n {
		panic("sideinfo: a kernel matrix has no further columns")
	}
	kernel.Gram(b, dst, w.k, x, w.x)
	for i := range dst {
		dst[i] += float32(w.c)
	}
}

// outer is the n x n operator B B' with B = [1 | Phi], known by B.
type outer struct {
	left *operator // B
}

func newOuter(f Features, opt Options, bs *waves) *outer {
	return &outer{newOperator("dual-paper", f, opt, bs, nil)}
}

func (o *outer) Kind() string         { return "dual-paper" }
func (o *outer) Rows() int            { return o.left.n }
func (o *outer) Columns() int         { return o.left.n }
func (o *outer) Matrix() []float32    { return nil }
func (o *outer) Theta() []float64     { return nil }
func (o *outer) ThetaNames() []string { return nil }

func (o *outer) SetTheta(theta []float64) error {
	if len(theta) > 0 {
		panic(fmt.Sprintf("sideinfo: %d parameters for an operator of none", len(theta)))
	}
	return nil
}

func (o *outer) PullTheta(_, _ []float32, _ int) []float64 { return nil }

// NewRows returns b(x) B', n values a row. Nothing is lost: all of T's prior
// variance is spanned by V's.
func (o *outer) NewRows(f Features) (rows, lost []float32, err error) {
	b, _, err := o.left.NewRows(f)
	if err != nil {
		return nil, nil, err
	}
	rows = make([]float32, f.N*o.left.n)
	o.times(o.left.b, rows, b, f.N)
	return rows, make([]float32, f.N), nil
}

func (o *outer) times(be backend.Backend, dst, b []float32, rows int) {
	m := o.left.Columns()
	if rows > 0 {
		be.Gemm(false, true, rows, o.left.n, m, 1, b, m, o.left.matrix, m, 0, dst, o.left.n)
	}
}

func (o *outer) block(be backend.Backend, dst []float32, from, to int) {
	m := o.left.Columns()
	o.times(be, dst, o.left.matrix[from*m:to*m], to-from)
}

// apply: B (B'W). B B' is symmetric, so its transpose is the same.
func (o *outer) apply(b backend.Backend, dst, weights []float32, w int) {
	inner := make([]float32, o.left.Columns()*w)
	ApplyTranspose(b, o.left, inner, weights, w)
	Apply(b, o.left, dst, inner, w)
}

func (o *outer) applyTranspose(b backend.Backend, dst, grad []float32, w int) {
	o.apply(b, dst, grad, w)
}

var _ factored = (*outer)(nil)
