package sideinfo

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Operator is the n x m matrix A of a mode, applied along the mode: T = A W.
//
// An operator may have learnable parameters theta: logarithms of the length-scales
// and weights of the kernel and of the intercept. Methods must not run concurrently
// with SetTheta or Rotate.
type Operator interface {
	// Kind returns the space: primal, primal-rff, dual, dual-rff or
	// dual-unwhitened.
	Kind() string
	Rows() int
	Columns() int

	// Matrix returns A, row-major. It must not be modified. It is nil for an operator
	// restored without it.
	Matrix() []float32

	// NewRows returns the rows of A for other entities, one per row of f, and the
	// residual variance of each: k(x, x) - |row|^2 if A is a factor of a kernel
	// matrix, else 0. Features of a training entity give its row of A.
	NewRows(f Features) (rows, residual []float32, err error)

	// Theta returns the parameters that can be learned; it is empty if there are none.
	Theta() []float64
	ThetaNames() []string
	// SetTheta recomputes A for other parameters. O(n m (C + m)).
	SetTheta(theta []float64) error

	// ThetaGradient returns the derivative of sum gradT o (A W) with respect to theta
	// at fixed W; gradT is n x w, weights m x w. O(n m (w + m + C)).
	ThetaGradient(gradT, weights []float32, w int) []float64
}

// Options control how an operator is built.
type Options struct {
	Backend backend.Backend

	// Columns is the number of columns for a kernel, including random features; 0
	// means DefaultColumns. The intercept is one more column.
	Columns int

	// NoIntercept leaves out the column of ones, or the constant added to the
	// kernel.
	NoIntercept bool

	// Learn builds a dual operator whose kernel parameters can be learned.
	Learn bool

	// Seed determines random features and the starting points of iterations.
	Seed uint64
}

// DefaultColumns is the default number of columns of the operator of a kernel, and
// the default of the specification field side.columns.
const DefaultColumns = 128

// basis is the part in which operators differ: the columns of A as functions of
// features, without intercept and rotation.
type basis interface {
	form() string
	columns() int
	// fill writes the columns at rows x to dst, where rows are stride values apart. It
	// may use the scratch memory.
	fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, s *scratch)
	// variance returns k(x, x) if the columns are a factor that may have residual
	// variance, else 0.
	variance() float64
	// learned returns the kernel whose parameters can be learned, or nil.
	learned() kernel.Kernel
	// moved is called after a change of the parameters of the learned kernel.
	moved() error
	// gradient returns an accumulator over chunks of rows for the derivative with
	// respect to the parameters of the learned kernel.
	gradient(b backend.Backend) gradientSum
	state(s *state)
}

// gradientSum accumulates a derivative over chunks of rows.
type gradientSum interface {
	add(grad []float32, stride int, x kernel.Rows)
	finish() []float64
}

// fixed implements the methods of a basis without parameters to learn.
type fixed struct{}

func (fixed) variance() float64                    { return 0 }
func (fixed) learned() kernel.Kernel               { return nil }
func (fixed) moved() error                         { return nil }
func (fixed) gradient(backend.Backend) gradientSum { panic("sideinfo: the basis has no parameters") }

// operator is A = [sqrt(c) 1 | basis(x)] Q.
type operator struct {
	b     backend.Backend
	kind  string
	basis basis
	n     int
	table Features // columns that NewRows expects, without rows

	x         kernel.Rows // training rows; empty after Restore
	matrix    []float32
	intercept bool
	logC      float64
	rotation  []float32 // Q, m x m; nil is the identity
}

// chunk is the number of rows of A processed at a time.
const chunk = 1024

// scratch is memory reused from chunk to chunk.
type scratch []float32

func (s *scratch) take(n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	return (*s)[:n]
}

// newOperator returns the operator of a basis. room is memory for the matrix, or
// nil.
func newOperator(kind string, f Features, opt Options, bs basis, room []float32) *operator {
	o := &operator{b: opt.Backend, kind: kind, basis: bs, n: f.N, table: f.head(), x: f.rows(), intercept: !opt.NoIntercept}
	o.matrix = o.evaluate(room, o.x)
	return o
}

func (o *operator) Kind() string      { return o.kind }
func (o *operator) Rows() int         { return o.n }
func (o *operator) Matrix() []float32 { return o.matrix }

func (o *operator) Columns() int { return o.first() + o.basis.columns() }

// first returns the first column of the basis.
func (o *operator) first() int {
	if o.intercept {
		return 1
	}
	return 0
}

// evaluate returns the rows of A at x, in the memory of dst if that is large enough.
func (o *operator) evaluate(dst []float32, x kernel.Rows) []float32 {
	m := o.Columns()
	if cap(dst) < x.N*m {
		dst = make([]float32, x.N*m)
	}
	dst = dst[:x.N*m]
	var s scratch
	for from := 0; from < x.N; from += chunk {
		to := min(from+chunk, x.N)
		rows := dst[from*m : to*m]
		o.unrotatedRows(rows, part(x, from, to), &s)
		rotateRows(o.b, rows, o.rotation, m, &s)
	}
	return dst
}

// unrotatedRows writes the rows of A before rotation to dst.
func (o *operator) unrotatedRows(dst []float32, x kernel.Rows, s *scratch) {
	m := o.Columns()
	if o.intercept {
		root := float32(math.Exp(o.logC / 2))
		for i := range x.N {
			dst[i*m] = root
		}
	}
	if o.basis.columns() > 0 && x.N > 0 {
		o.basis.fill(o.b, dst[o.first():], m, x, s)
	}
}

func part(x kernel.Rows, from, to int) kernel.Rows {
	return kernel.Rows{N: to - from, C: x.C, X: x.X[from*x.C : to*x.C]}
}

func (o *operator) NewRows(f Features) (rows, residual []float32, err error) {
	if err := o.table.accepts(f); err != nil {
		return nil, nil, err
	}
	rows = o.evaluate(nil, f.rows())
	return rows, o.residualVariance(rows, f.N), nil
}

// residualVariance returns k(x, x) - |l|^2 of each row l. The rotation preserves
// norms, and the intercept has no residual.
func (o *operator) residualVariance(rows []float32, n int) []float32 {
	residual, m := make([]float32, n), o.Columns()
	whole := o.basis.variance()
	if whole == 0 {
		return residual
	}
	if o.intercept {
		whole += math.Exp(o.logC)
	}
	for i := range residual {
		square := 0.0
		for _, v := range rows[i*m : (i+1)*m] {
			square += float64(v) * float64(v)
		}
		residual[i] = float32(max(0, whole-square))
	}
	return residual
}

// Clone returns a copy of an operator whose rotation does not change the original. Parameters to learn are shared.
func Clone(op Operator) Operator {
	o, ok := op.(*operator)
	if !ok {
		return op
	}
	c := *o
	c.matrix, c.rotation = slices.Clone(o.matrix), slices.Clone(o.rotation)
	return &c
}

// ForgetFeatures releases the features of an operator, which may take more memory than its
// matrix. Its parameters cannot be learned afterwards.
func ForgetFeatures(op Operator) {
	if o, ok := op.(*operator); ok {
		o.x.X = nil
	}
}

// learns reports whether the operator has parameters: a kernel that can be learned
// and the training rows to recompute A.
func (o *operator) learns() bool { return o.basis.learned() != nil && o.x.X != nil }

func (o *operator) Theta() []float64 {
	if !o.learns() {
		return nil
	}
	theta := o.basis.learned().Params()
	if o.intercept {
		theta = slices.Insert(theta, 0, o.logC)
	}
	return theta
}

func (o *operator) ThetaNames() []string {
	if !o.learns() {
		return nil
	}
	names := o.basis.learned().ParamNames()
	if o.intercept {
		names = slices.Insert(names, 0, "intercept")
	}
	return names
}

// maxTheta bounds the absolute value of parameters. Beyond it, float32 overflows.
const maxTheta = 25

func (o *operator) SetTheta(theta []float64) error {
	old := o.Theta()
	if len(theta) != len(old) {
		panic(fmt.Sprintf("sideinfo: %d parameters for an operator of %d", len(theta), len(old)))
	}
	for i, v := range theta {
		if !(math.Abs(v) <= maxTheta) {
			return fielderr.Errorf("side.length-scales", "parameter %q of the %s operator would be e^%.3g, outside e^%d to e^%d; keep length-scales fixed", o.ThetaNames()[i], o.kind, v, -maxTheta, maxTheta)
		}
	}
	if len(theta) == 0 {
		return nil
	}
	if err := o.move(theta); err != nil {
		if back := o.move(old); back != nil {
			panic("sideinfo: the previous parameters are no longer valid: " + back.Error())
		}
		return err
	}
	o.evaluate(o.matrix, o.x)
	return nil
}

func (o *operator) move(theta []float64) error {
	if o.intercept {
		o.logC, theta = theta[0], theta[1:]
	}
	o.basis.learned().SetParams(theta)
	return o.basis.moved()
}

func (o *operator) ThetaGradient(gradT, weights []float32, w int) []float64 {
	m := o.Columns()
	if len(gradT) != o.n*w || len(weights) != m*w {
		panic(fmt.Sprintf("sideinfo: gradient of %d and weights of %d values for an operator of %d x %d and width %d", len(gradT), len(weights), o.n, m, w))
	}
	if !o.learns() {
		return nil
	}
	if o.rotation != nil {
		rotated := make([]float32, m*w)
		o.b.Gemm(false, false, m, w, m, 1, o.rotation, m, weights, w, 0, rotated, w)
		weights = rotated
	}
	sum := o.basis.gradient(o.b)
	grad := make([]float32, min(chunk, o.n)*m)
	intercept := 0.0
	for from := 0; from < o.n; from += chunk {
		rows := min(chunk, o.n-from)
		g := grad[:rows*m]
		o.b.Gemm(false, true, rows, m, w, 1, gradT[from*w:(from+rows)*w], w, weights, w, 0, g, m)
		if o.intercept {
			for i := range rows {
				intercept += float64(g[i*m])
			}
		}
		sum.add(g[o.first():], m, part(o.x, from, from+rows))
	}
	out := sum.finish()
	if o.intercept {
		out = slices.Insert(out, 0, intercept*math.Exp(o.logC/2)/2)
	}
	return out
}
