package sideinfo

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// monthCycle returns n months of several years. Months lie on a circle, so that the
// kernel matrix has equal eigenvalues.
func monthCycle(n, years int) Features {
	f := Features{N: n * years, C: 3}
	for i := range n * years {
		angle := 2 * math.Pi * float64(i%n) / float64(n)
		f.X = append(f.X, float32(math.Cos(angle)), float32(math.Sin(angle)), float32(i/n))
	}
	f.Names = []string{"cos", "sin", "year"}
	return f
}

// The columns of a rotated operator do not depend on how products are rounded, even
// where eigenvalues are equal: engines of all instruction sets give the same columns.
func TestRotatedColumnsOnAllPaths(t *testing.T) {
	t.Parallel()
	for _, f := range []Features{monthCycle(12, 1), monthCycle(12, 3), normalFeatures(40, 2, 5)} {
		weights := make([]float64, f.N)
		for i := range weights {
			weights[i] = 100
		}
		var want []float32
		engines := []backend.Backend{ref.Backend{}}
		for _, path := range cpu.Paths() {
			engines = append(engines, cpu.New(path, 1))
		}
		for e, b := range engines {
			op, _, err := Dual(f, kernel.Matern32(), Options{Backend: b, Columns: 10, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if err := Rotate(op, weights); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = append(want, op.Matrix()...)
			}
			if d := maxDifference(op.Matrix(), want); !(d < 1e-3) {
				t.Errorf("%d entities, engine %d: got columns that differ by %g from those of the first engine, want at most 1e-3", f.N, e, d)
			}
		}
	}
}
