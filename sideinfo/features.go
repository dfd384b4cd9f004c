package sideinfo

import (
	"fmt"
	"math"
)

// Features is an encoded side table: N entities by C columns, row-major,
// standardised, nothing missing.
type Features struct {
	N, C  int
	X     []float32
	Names []string // one a column
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
	if f.N < 0 || f.C < 0 || len(f.X) != f.N*f.C || (f.Names != nil && len(f.Names) != f.C) {
		panic(fmt.Sprintf("sideinfo: features of %d x %d with %d values and %d names", f.N, f.C, len(f.X), len(f.Names)))
	}
	for i, v := range f.X {
		if v64 := float64(v); math.IsNaN(v64) || math.IsInf(v64, 0) {
			return fmt.Errorf("side information of entity %d, %s, is %v: fill missing values before building an operator", i/f.C+1, f.name(i%f.C), v)
		}
	}
	return nil
}
