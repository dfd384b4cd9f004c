package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// The systems of a middle core agree with passes over squared residuals, their variances, and products.
func TestMiddleSystems(t *testing.T) {
	index := salesIndex(40, 30, 6)
	for _, path := range Paths() {
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			for _, weighted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/leaf=%d/weighted=%v", path, leaf, weighted), func(t *testing.T) {
					m := newMomentBench(leaf, index[:], backend.Shape{Left: 1, N: 41, Right: 5}, backend.Shape{Left: 5, N: 33, Right: 19}, backend.Shape{Left: 19, N: 7, Right: 1})
					rng := rand.New(rand.NewPCG(3, 1))
					var weight []float32
					if weighted {
						weight = make([]float32, m.plan.Cells())
						for i := range weight {
							weight[i] = rng.Float32()
						}
					}
					checkMiddle(t, New(path, 3), m, weight)
				})
			}
		}
	}
}

func checkMiddle(t *testing.T, b *Backend, m momentBench, weight []float32) {
	t.Helper()
	shape := m.cores[1].Shape
	size := shape.Slice()
	direction := drawn(rand.New(rand.NewPCG(7, 7)), shape).Mean
	pass := func(adjoint backend.Adjoint, middle backend.Slices, variances bool) backend.Slices {
		grad := []backend.Slices{{}, backend.NewSlices(shape), {}}
		if variances {
			grad[1].Var = make([]float32, shape.Len())
		}
		b.Pass(m.plan, []backend.Slices{m.cores[0], middle, m.cores[2]}, &backend.Job{Adjoint: adjoint, GradientsOnly: true, SecondMoments: true, Target: m.target, Weight: weight, Grad: grad})
		return grad[1]
	}
	residual := pass(backend.Residual, m.cores[1], true)
	product := pass(backend.Product, backend.Slices{Shape: shape, Mean: direction}, false)
	visits := make([]int, shape.N)
	var mutex sync.Mutex
	runs, ok := b.MiddleSystems(m.plan, m.cores, m.target, weight, func(_, e int, s backend.MiddleSystem) {
		got, at := make([]float32, size), e*size
		compare := func(name string, want []float32, factor float32) {
			largest, worst := 1e-3, 0.0
			for i, v := range want[at:][:size] {
				largest, worst = max(largest, math.Abs(float64(factor*v))), max(worst, math.Abs(float64(factor*v-got[i])))
			}
			if worst > 1e-5*largest {
				t.Errorf("%s of entity %d is off by %g, and at most %g", name, e, worst, largest)
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		visits[e]++
		s.Gradient(got, m.cores[1].Mean[at:][:size])
		compare("gradient", residual.Mean, 1)
		s.Diagonal(got)
		compare("diagonal", residual.Var, -2)
		s.Multiply(got, direction[at:][:size])
		compare("product", product.Mean, 1)
	})
	if !ok || runs.First != 0 || runs.End != shape.N {
		t.Fatalf("MiddleSystems returned %v, %v", runs, ok)
	}
	for e, n := range visits[:shape.N-1] {
		if n != 1 {
			t.Errorf("entity %d was visited %d times", e, n)
		}
	}
}

// Six products per entity, as in six steps of conjugate gradients.
func BenchmarkMiddleSystems(b *testing.B) {
	index := salesIndex(1507, 4563, 24)
	for _, r := range []int{12, 20, 30} {
		m := newMomentBench(backend.LeafFirst, index[:], backend.Shape{Left: 1, N: 1508, Right: r}, backend.Shape{Left: r, N: 4564, Right: r}, backend.Shape{Left: r, N: 25, Right: 1})
		b.Run(fmt.Sprintf("r=%d", r), func(b *testing.B) {
			engine := New(Paths()[0], 1)
			dst := make([]float32, r*r)
			for b.Loop() {
				engine.MiddleSystems(m.plan, m.cores, m.target, nil, func(_, e int, s backend.MiddleSystem) {
					s.Gradient(dst, m.cores[1].Mean[e*r*r:][:r*r])
					for range 6 {
						s.Multiply(dst, m.cores[1].Mean[e*r*r:][:r*r])
					}
				})
			}
		})
	}
}
