package kernel

import (
	"fmt"
	"slices"
)

// Kernel is a covariance function with parameters. The kernels of this package
// are the only ones: see the table in base.go for a new base kernel.
//
// Methods that change parameters may not run beside any other method.
type Kernel interface {
	// String returns the text form, which Parse reads back.
	String() string

	// At returns k(x, z) in float64: the reference for Gram.
	At(x, z []float64) float64

	// Diagonal returns k(x, x), the same for every x.
	Diagonal() float64

	// Params returns the logarithms of length-scales and weights.
	Params() []float64
	// SetParams takes what Params returns. It panics on another length.
	SetParams([]float64)
	// ParamNames names each parameter for people: "rbf length", "weight of rbf".
	ParamNames() []string

	// Clone returns a kernel with parameters of its own.
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
		panic(fmt.Sprintf("kernel: %s of %d x %d with %d values", what, r.N, r.C, len(r.X)))
	}
}

// part returns rows from to to, sharing memory.
func (r Rows) part(from, to int) Rows {
	return Rows{N: to - from, C: r.C, X: r.X[from*r.C : to*r.C]}
}

// Columns describes the columns of the points a kernel is for.
type Columns struct {
	Count int
	// Names are what a restriction such as rbf[lat,lon] refers to; nil where
	// columns have none.
	Names []string
	// Origins are the columns of a table that these were made of, "city" of
	// "city=Ames", which a restriction may name too; nil takes what stands before
	// a '='.
	Origins []string
	// LeftOut are columns of that table that none was made of, for they say nothing.
	LeftOut []string
	// Unit[c] is one unit of the raw column in units of the points: 1/sd for a
	// standardised column. Periods are given in raw units. Nil is 1 everywhere.
	Unit []float64
}

// Bind returns a copy of the kernel for points with the given columns: names are
// resolved and every length-scale is 1, every weight of a sum of n terms 1/n.
func Bind(k Kernel, c Columns) (Kernel, error) {
	if c.Names != nil && len(c.Names) != c.Count || c.Origins != nil && len(c.Origins) != len(c.Names) || c.Unit != nil && len(c.Unit) != c.Count {
		panic(fmt.Sprintf("kernel: %d columns with %d names, %d origins and %d units", c.Count, len(c.Names), len(c.Origins), len(c.Unit)))
	}
	if c.Count == 0 && len(k.bases()) > 0 {
		return nil, fmt.Errorf("kernel %s: there is no column to measure distances in", k)
	}
	bound := k.Clone()
	if err := bound.bind(c); err != nil {
		return nil, err
	}
	return bound, nil
}

// WithLengths returns a copy with a length-scale a column in every base kernel.
// It is for kernels that are not bound yet.
func WithLengths(k Kernel) Kernel {
	c := k.Clone()
	for _, b := range c.bases() {
		b.ard = true
	}
	return c
}

// Uses reports whether the kernel looks at column c of the points it is bound to.
func Uses(k Kernel, c int) bool {
	return slices.ContainsFunc(k.bases(), func(b *base) bool { return slices.Contains(b.index, c) })
}

// Repeats reports whether a periodic part of the kernel looks at column c of the
// points it is bound to.
func Repeats(k Kernel, c int) bool {
	return slices.ContainsFunc(k.bases(), func(b *base) bool { return b.period > 0 && slices.Contains(b.index, c) })
}

func checkParams(got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: %d parameters for a kernel of %d", got, want))
	}
}
