package sideinfo

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Operator is the n x m matrix A of a mode, applied along the mode: T = A W.
//
// An operator with parameters theta (logarithms of the kernel's length-scales
// and weights and of the intercept) follows SetTheta. Methods may not run
// beside SetTheta or Rotate.
type Operator interface {
	// Kind returns the space: primal, primal-rff, dual, dual-rff, dual-paper.
	Kind() string
	Rows() int
	Columns() int

	// Matrix returns A, row-major, not to be written to; nil for an operator
	// restored without it.
	Matrix() []float32

	// NewRows returns the rows of A for other entities, one a row of f, and the
	// prior variance each lost: k(x,x) - |row|^2 where A is a factor of a
	// kernel matrix, else 0. A row of features seen in training gives its row of A.
	NewRows(f Features) (rows, lost []float32, err error)

	// Theta returns the parameters that can be learned, empty for none.
	Theta() []float64
	ThetaNames() []string
	// SetTheta moves A to other parameters. O(n m (C + m)).
	SetTheta(theta []float64) error

	// PullTheta returns the derivative of sum gradT o (A W) by theta at fixed W;
	// gradT is n x w, weights m x w. O(n m (w + m + C)).
	PullTheta(gradT, weights []float32, w int) []float64
}

// Options says how an operator is built.
type Options struct {
	Backend backend.Backend

	// Columns is the number of columns a kernel gets, random features among
	// them; 0 is DefaultColumns. The intercept comes on top.
	Columns int

	// NoIntercept leaves out the column of ones, or the constant added to the
	// kernel.
	NoIntercept bool

	// Learn makes a dual operator whose kernel can be learned.
	Learn bool

	// Seed draws random features and starts of iterations.
	Seed uint64
}

// DefaultColumns is the number of columns of a kernel's operator unless given.
const DefaultColumns = 256

// basis is what operators differ in: the columns of A as functions of features,
// without intercept and rotation.
type basis interface {
	form() string
	columns() int
	// fill writes the columns at rows x to dst, stride values from one row to
	// the next. Scratch is for its use.
	fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, s *scratch)
	// variance returns k(x, x) where the columns are a factor that may fall
	// short of it, else 0.
	variance() float64
	// kernel returns the kernel whose parameters can be learned, or nil.
	learned() kernel.Kernel
	// moved is called after the learned kernel's parameters changed.
	moved() error
	// pull returns a sum over chunks of rows that ends in the derivative by the
	// learned kernel's parameters.
	pull(b backend.Backend) puller
	state(s *state)
}

type puller interface {
	add(grad []float32, stride int, x kernel.Rows)
	finish() []float64
}

// fixed is the part of a basis that has nothing to learn.
type fixed struct{}

func (fixed) variance() float64           { return 0 }
func (fixed) learned() kernel.Kernel      { return nil }
func (fixed) moved() error                { return nil }
func (fixed) pull(backend.Backend) puller { panic("sideinfo: nothing to learn") }

// operator is A = [sqrt(c) 1 | basis(x)] Q.
type operator struct {
	b     backend.Backend
	kind  string
	basis basis
	n     int
	table Features // the columns, without rows, that NewRows expects

	x         kernel.Rows // training rows; none after Restore
	matrix    []float32
	intercept bool
	logC      float64
	rotation  []float32 // Q, m x m; nil is the identity
}

// chunk is the number of rows of A worked on at a time.
const chunk = 1024

// scratch is memory that one chunk after another uses.
type scratch []float32

func (s *scratch) take(n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	return (*s)[:n]
}

// newOperator takes an array to keep the matrix in, or nil.
func newOperator(kind string, f Features, opt Options, bs basis, room []float32) *operator {
	o := &operator{b: opt.Backend, kind: kind, basis: bs, n: f.N, table: f.head(), x: f.rows(), intercept: !opt.NoIntercept}
	o.matrix = o.evaluate(room, o.x)
	return o
}

func (o *operator) Kind() string      { return o.kind }
func (o *operator) Rows() int         { return o.n }
func (o *operator) Matrix() []float32 { return o.matrix }

func (o *operator) Columns() int { return o.first() + o.basis.columns() }

// first returns the column the basis starts at.
func (o *operator) first() int {
	if o.intercept {
		return 1
	}
	return 0
}

// evaluate writes the rows of A at x to dst, which may be nil.
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
		o.plain(rows, part(x, from, to), &s)
		rotateRows(o.b, rows, o.rotation, m, &s)
	}
	return dst
}

// plain writes rows of A before rotation.
func (o *operator) plain(dst []float32, x kernel.Rows, s *scratch) {
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

func (o *operator) NewRows(f Features) (rows, lost []float32, err error) {
	if err := o.table.accepts(f); err != nil {
		return nil, nil, err
	}
	rows = o.evaluate(nil, f.rows())
	return rows, o.lost(rows, f.N), nil
}

// lost returns k(x,x) - |l|^2. The rotation keeps norms, and the intercept is
// spanned in full.
func (o *operator) lost(rows []float32, n int) []float32 {
	lost, m := make([]float32, n), o.Columns()
	whole := o.basis.variance()
	if whole == 0 {
		return lost
	}
	if o.intercept {
		whole += math.Exp(o.logC)
	}
	for i := range lost {
		square := 0.0
		for _, v := range rows[i*m : (i+1)*m] {
			square += float64(v) * float64(v)
		}
		lost[i] = float32(max(0, whole-square))
	}
	return lost
}

// learns reports whether there is a theta: a learned kernel and the rows to
// follow it.
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

// A parameter beyond these bounds leaves float32 behind.
const maxTheta = 25

func (o *operator) SetTheta(theta []float64) error {
	old := o.Theta()
	if len(theta) != len(old) {
		panic(fmt.Sprintf("sideinfo: %d parameters for an operator of %d", len(theta), len(old)))
	}
	for i, v := range theta {
		if !(math.Abs(v) <= maxTheta) {
			return fmt.Errorf("parameter %q of the %s operator would be e^%.3g: it must stay within e^%d and e^%d", o.ThetaNames()[i], o.kind, v, -maxTheta, maxTheta)
		}
	}
	if len(theta) == 0 {
		return nil
	}
	if err := o.move(theta); err != nil {
		if back := o.move(old); back != nil {
			panic("sideinfo: parameters that held no longer do: " + back.Error())
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

func (o *operator) PullTheta(gradT, weights []float32, w int) []float64 {
	m := o.Columns()
	if len(gradT) != o.n*w || len(weights) != m*w {
		panic(fmt.Sprintf("sideinfo: gradient of %d and weights of %d values for an operator of %d x %d and width %d", len(gradT), len(weights), o.n, m, w))
	}
	if !o.learns() {
		return nil
	}
	if o.rotation != nil {
		turned := make([]float32, m*w)
		o.b.Gemm(false, false, m, w, m, 1, o.rotation, m, weights, w, 0, turned, w)
		weights = turned
	}
	sum := o.basis.pull(o.b)
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
