package sideinfo

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Features is an encoded side table: N entities by C columns, row-major,
// standardised, without missing values.
type Features struct {
	N, C  int
	X     []float32
	Names []string // one per column
	// Origins[c] is the column of the table from which column c was made: "city" for
	// "city=Ames" and for "city missing". If Origins is nil, it is the part of the name
	// before '='.
	Origins []string
	// Unit[c] is one unit of the raw column in units of X: 1/sd if X was standardised.
	// Periods of kernels are in raw units. Nil means 1 for all columns.
	Unit []float64
}

// Row returns the features of entity i. It shares memory with X.
func (f Features) Row(i int) []float32 { return f.X[i*f.C : (i+1)*f.C] }

// name returns the name of column c, or its number if there are no names.
func (f Features) name(c int) string {
	if c < len(f.Names) {
		return f.Names[c]
	}
	return fmt.Sprintf("column %d", c+1)
}

// check returns an error for a value that is not finite, and panics if the sizes are
// inconsistent.
func (f Features) check() error {
	if f.N < 0 || f.C < 0 || len(f.X) != f.N*f.C || f.Names != nil && len(f.Names) != f.C || f.Origins != nil && len(f.Origins) != len(f.Names) || f.Unit != nil && len(f.Unit) != f.C {
		panic(fmt.Sprintf("sideinfo: features of %d x %d with %d values and %d names", f.N, f.C, len(f.X), len(f.Names)))
	}
	for i, v := range f.X {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fielderr.Errorf("side.tables", "side information of entity %d, %s: the value is %v; fill in missing values", i/f.C+1, f.name(i%f.C), v)
		}
	}
	return nil
}

// rows returns the features in the form that kernels use.
func (f Features) rows() kernel.Rows { return kernel.Rows{N: f.N, C: f.C, X: f.X} }

// columns returns the description of the columns in the form that kernels use.
func (f Features) columns() kernel.Columns {
	return kernel.Columns{Count: f.C, Names: f.Names, Origins: f.Origins, Unit: f.Unit}
}

// head returns the description of the columns, without rows.
func (f Features) head() Features {
	return Features{C: f.C, Names: f.Names, Origins: f.Origins, Unit: f.Unit}
}

// accepts returns an error unless g has the columns of f and finite values.
func (f Features) accepts(g Features) error {
	if g.C != f.C {
		return fmt.Errorf("side information of new entities: it has %d columns, but the model was trained with %d; use the same columns", g.C, f.C)
	}
	for c := range min(len(f.Names), len(g.Names)) {
		if f.Names[c] != g.Names[c] {
			return fmt.Errorf("side information of new entities: column %d is %q, but the model was trained with %q; use the same columns", c+1, g.Names[c], f.Names[c])
		}
	}
	return g.check()
}

// varying reports for each column whether it has two different values.
func (f Features) varying() []bool {
	varies := make([]bool, f.C)
	for i := 1; i < f.N; i++ {
		for c, v := range f.Row(i) {
			varies[c] = varies[c] || v != f.X[c]
		}
	}
	return varies
}

// usable returns an error if no operator can be built on the features.
func (f Features) usable(space string, opt Options) error {
	if opt.Backend == nil {
		panic("sideinfo: no backend")
	}
	if opt.Columns < 0 {
		return fielderr.Errorf("side.columns", "space %s: %d columns; use a number above 0", space, opt.Columns)
	}
	if f.N == 0 {
		return fmt.Errorf("space %s: the mode has no entities", space)
	}
	if f.C == 0 {
		return fielderr.Errorf("side.tables", "space %s: the side table has no column besides its key; give a table with columns that describe the entities", space)
	}
	return f.check()
}
