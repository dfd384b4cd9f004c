package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// The gradients that the equations of the leaf core need are those of a pass that computes the moments of cells.
func TestLeafEquations(t *testing.T) {
	index := salesIndex(40, 30, 6)
	for _, path := range Paths() {
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/weighted=%v", path, weighted), func(t *testing.T) {
				m := newMomentBench(backend.LeafFirst, index[:], backend.Shape{Left: 1, N: 41, Right: 11}, backend.Shape{Left: 11, N: 33, Right: 6}, backend.Shape{Left: 6, N: 7, Right: 1})
				var weight []float32
				if rng := rand.New(rand.NewPCG(3, 1)); weighted {
					for range m.plan.Cells() {
						weight = append(weight, rng.Float32())
					}
				}
				b, size := New(path, 3), m.cores[0].Slice()
				pass := func(gradientsOnly bool) backend.Slices {
					grad := make([]backend.Slices, 3)
					grad[0] = backend.NewSlices(m.cores[0].Shape)
					grad[0].Cov = make([]float32, grad[0].Len()*size)
					b.Pass(m.plan, m.cores, &backend.Job{Adjoint: backend.Residual, SecondMoments: true, GradientsOnly: gradientsOnly, Target: m.target, Weight: weight, Grad: grad})
					return grad[0]
				}
				got, want := pass(true), pass(false)
				for i, v := range want.Cov {
					if got.Cov[i] != v {
						t.Fatalf("entry %d of the covariances is %g, want %g", i, got.Cov[i], v)
					}
				}
				for e := range m.cores[0].N {
					largest := 1e-3
					for _, v := range want.Mean[e*size:][:size] {
						largest = max(largest, math.Abs(float64(v)))
					}
					for i, v := range want.Mean[e*size:][:size] {
						if d := math.Abs(float64(v - got.Mean[e*size+i])); d > 2e-5*largest {
							t.Errorf("entry %d of entity %d is off by %g, and at most %g", i, e, d, largest)
						}
					}
				}
			})
		}
	}
}
