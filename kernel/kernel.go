package kernel

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Kernel is a covariance function with parameters. It is implemented by this
// package only; new base kernels are added to the table in base.go.
//
// Methods that change parameters must not run concurrently with any other
// method.
type Kernel interface {
	// String returns the text form, which Parse accepts.
	String() string

	// At returns k(x, z) in float64. It is the reference for Gram.
	At(x, z []float64) float64

	// Diagonal returns k(x, x), the same for every x.
	Diagonal() float64

	// Params returns the logarithms of length-scales and weights.
	Params() []float64
	// SetParams sets the parameters, in the order of Params. It panics if the
	// length differs.
	SetParams([]float64)
	// ParamNames returns a readable name for each parameter: "rbf length",
	// "weight of rbf".
	ParamNames() []string

	// Clone returns a deep copy.
	Clone() Kernel

	bind(Columns) error
	bases() []*base
	prepare(e *engine, z Rows) evaluator
	expand(offset int) []monomial
	precedence() int
}

// Rows is a set of points, N by C, row-major.
type Rows struct {
	N, C int
	X    []float32
}

func (r Rows) check(what string) {
	if r.N < 0 || r.C < 0 || len(r.X) != r.N*r.C {
		panic(fmt.Sprintf("kernel: %s: %d x %d does not match %d values", what, r.N, r.C, len(r.X)))
	}
}

// part returns the rows in [from, to), sharing memory.
func (r Rows) part(from, to int) Rows {
	return Rows{N: to - from, C: r.C, X: r.X[from*r.C : to*r.C]}
}

// Columns describes the columns of the points that a kernel is applied to.
type Columns struct {
	Count int
	// Names are the names that a restriction such as rbf[lat,lon] refers to;
	// nil if columns have no names.
	Names []string
	// Origins are the table columns that these columns were made of, such as
	// "city" for "city=Ames". A restriction may refer to them too. If nil, the
	// part of a name before '=' is used.
	Origins []string
	// Dropped are the table columns of which no column was made, because they
	// carry no information.
	Dropped []string
	// Unit[c] is one unit of the raw column in units of the points: 1/sd for a
	// standardised column. Periods are given in raw units. Nil means 1
	// everywhere.
	Unit []float64
}

// Bind returns a copy of the kernel for points with the given columns. Names
// are resolved, every length-scale is 1, and every weight of a sum of n terms
// is 1/n.
func Bind(k Kernel, c Columns) (Kernel, error) {
	if c.Names != nil && len(c.Names) != c.Count || c.Origins != nil && len(c.Origins) != len(c.Names) || c.Unit != nil && len(c.Unit) != c.Count {
		panic(fmt.Sprintf("kernel: Bind: %d columns do not match %d names, %d origins and %d units", c.Count, len(c.Names), len(c.Origins), len(c.Unit)))
	}
	if c.Count == 0 && len(k.bases()) > 0 {
		return nil, fielderr.Errorf("side.kernels", "kernel %s: there are no columns to measure distances in", k)
	}
	bound := k.Clone()
	if err := bound.bind(c); err != nil {
		return nil, err
	}
	return bound, nil
}

// UsesColumn reports whether the kernel depends on column c of the points it is
// bound to.
func UsesColumn(k Kernel, c int) bool {
	return slices.ContainsFunc(k.bases(), func(b *base) bool { return slices.Contains(b.index, c) })
}

// PeriodicInColumn reports whether a periodic part of the kernel depends on
// column c of the points it is bound to.
func PeriodicInColumn(k Kernel, c int) bool {
	return slices.ContainsFunc(k.bases(), func(b *base) bool { return b.period > 0 && slices.Contains(b.index, c) })
}

func checkParams(got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: got %d parameters, want %d", got, want))
	}
}
