package sideinfo

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/kernel"
)

// Features is an encoded side table: N entities by C columns, row-major,
// standardised, nothing missing.
type Features struct {
	N, C  int
	X     []float32
	Names []string // one a column
	// Origins are the table's columns that these were made of, "city" of
	// "city=Ames" and of "city missing"; nil takes what stands before a '='.
	Origins []string
	// Unit[c] is one unit of the raw column in units of X: 1/sd where X was
	// standardised. Periods of kernels are in raw units. Nil is 1 everywhere.
	Unit []float64
}

// Row returns the features of entity i. It shares memory with X.
func (f Features) Row(i int) []float32 { return f.X[i*f.C : (i+1)*f.C] }

// name returns the name of column c, also where names were not given.
func (f Features) name(c int) string {
	if c < len(f.Names) {
		return f.Names[c]
	}
	return fmt.Sprintf("column %d", c+1)
}

// check returns an error for a value that is not finite, and panics where the
// sizes do not fit together.
func (f Features) check() error {
	if f.N < 0 || f.C < 0 || len(f.X) != f.N*f.C || f.Names != nil && len(f.Names) != f.C || f.Origins != nil && len(f.Origins) != len(f.Names) || f.Unit != nil && len(f.Unit) != f.C {
		panic(fmt.Sprintf("sideinfo: features of %d x %d with %d values and %d names", f.N, f.C, len(f.X), len(f.Names)))
	}
	for i, v := range f.X {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fmt.Errorf("side information of entity %d, %s, is %v: fill missing values before building an operator", i/f.C+1, f.name(i%f.C), v)
		}
	}
	return nil
}

// rows returns the features as a kernel takes them.
func (f Features) rows() kernel.Rows { return kernel.Rows{N: f.N, C: f.C, X: f.X} }

// columns returns the description of the columns as a kernel takes it.
func (f Features) columns() kernel.Columns {
	return kernel.Columns{Count: f.C, Names: f.Names, Origins: f.Origins, Unit: f.Unit}
}

// head returns the description of the columns.
func (f Features) head() Features {
	return Features{C: f.C, Names: f.Names, Origins: f.Origins, Unit: f.Unit}
}

// accepts returns an error unless g has the columns of f and finite values.
func (f Features) accepts(g Features) error {
	if g.C != f.C {
		return fmt.Errorf("new entities have %d columns of side information, the model was trained with %d", g.C, f.C)
	}
	for c := range min(len(f.Names), len(g.Names)) {
		if f.Names[c] != g.Names[c] {
			return fmt.Errorf("column %d of the new entities' side information is %q, the model was trained with %q there", c+1, g.Names[c], f.Names[c])
		}
	}
	return g.check()
}

// varying says of each column whether it takes two values.
func (f Features) varying() []bool {
	varies := make([]bool, f.C)
	for i := 1; i < f.N; i++ {
		for c, v := range f.Row(i) {
			varies[c] = varies[c] || v != f.X[c]
		}
	}
	return varies
}

// usable returns an error where no operator can be built on the features.
func (f Features) usable(space string, opt Options) error {
	if opt.Backend == nil {
		panic("sideinfo: no backend")
	}
	if opt.Columns < 0 {
		return fmt.Errorf("a %s operator of %d columns: give a number above 0", space, opt.Columns)
	}
	if f.N == 0 {
		return fmt.Errorf("a %s operator for a mode without entities", space)
	}
	if f.C == 0 {
		return fmt.Errorf("a %s operator needs side information: the table has no column besides its key", space)
	}
	return f.check()
}
