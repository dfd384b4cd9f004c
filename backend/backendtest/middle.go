package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// middleCases covers trains whose middle core has equations of its own: ranks at and off the boundaries of vector
// registers, more of one than of the other, a far core larger than a block of cells, and entities without cells.
func middleCases() []Case {
	cases := []Case{
		{"many nodes", []int{9, 4, 700}, []int{3, 4}, 1200},
		{"many cells", []int{300, 2, 2}, []int{5, 2}, 1500},
		{"few cells", []int{3, 40, 3}, []int{6, 7}, 12},
		{"no cells", []int{4, 4, 4}, []int{2, 2}, 0},
	}
	for _, r := range [][]int{{2, 2}, {2, 3}, {7, 5}, {8, 8}, {9, 16}, {2, 17}, {17, 2}, {24, 24}, {33, 12}, {40, 31}} {
		cells := min(250, max(30, 400_000/(r[0]*r[1]*(r[0]+r[1])))) // the reference backend is slow
		cases = append(cases, Case{fmt.Sprintf("ranks %d and %d", r[0], r[1]), []int{7, 9, 6}, r, cells})
	}
	return cases
}

// middleSystem is what the equations of the middle core say of all its slices.
type middleSystem struct{ gradient, diagonal, product []float32 }

// equations asks a backend for the equations of the middle core, at the slices of the problem and a direction. It
// returns nil if there are none for the plan.
func (p Problem) equations(b backend.Backend, plan *backend.Plan, cores []backend.Slices, target, weight, direction []float32) *middleSystem {
	systems, ok := b.(backend.MiddleSystems)
	if !ok {
		return nil
	}
	n, size := len(direction), cores[1].Slice()
	all := middleSystem{make([]float32, n), make([]float32, n), make([]float32, n)}
	visits, mutex := make([]int, cores[1].N), sync.Mutex{}
	runs, ok := systems.MiddleSystems(plan, cores, target, weight, func(_, e int, s backend.MiddleSystem) {
		mutex.Lock()
		visits[e]++
		mutex.Unlock()
		s.Gradient(all.gradient[e*size:][:size], cores[1].Mean[e*size:][:size])
		s.Diagonal(all.diagonal[e*size:][:size])
		s.Multiply(all.product[e*size:][:size], direction[e*size:][:size])
	})
	if !ok {
		if slices.Max(visits) > 0 {
			panic("backendtest: entities were visited without equations")
		}
		return nil
	}
	for e := runs.First; e < min(runs.End, cores[1].N-1); e++ {
		if visits[e] != 1 {
			panic(fmt.Sprintf("backendtest: entity %d was visited %d times", e, visits[e]))
		}
	}
	for _, v := range [][]float32{all.gradient, all.diagonal, all.product} {
		runs.Share(v, size)
	}
	return &all
}

// passes computes the same by passes of the reference backend.
func (p Problem) passes(plan *backend.Plan, cores []backend.Slices, target, weight, direction []float32) *middleSystem {
	shape := cores[1].Shape
	residual, product := backend.NewSlices(shape), backend.NewSlices(shape)
	residual.Var = make([]float32, shape.Len())
	ref.Backend{}.Pass(plan, cores, &backend.Job{Adjoint: backend.Residual, GradientsOnly: true, SecondMoments: true, Target: target, Weight: weight, Grad: []backend.Slices{{}, residual, {}}})
	moved := slices.Clone(cores)
	moved[1] = backend.Slices{Shape: shape, Mean: direction}
	ref.Backend{}.Pass(plan, moved, &backend.Job{Adjoint: backend.Product, GradientsOnly: true, SecondMoments: true, Weight: weight, Grad: []backend.Slices{{}, product, {}}})
	for i := range residual.Var {
		residual.Var[i] *= -2
	}
	return &middleSystem{residual.Mean, residual.Var, product.Mean}
}

// testMiddle compares the equations of the middle core with passes of the reference backend.
func testMiddle(t *testing.T, backends []Open) {
	for _, c := range middleCases() {
		p := c.Make(7)
		rng := rand.New(rand.NewPCG(5, 9))
		direction := make([]float32, p.Shapes[1].Len())
		for i := range direction {
			direction[i] = float32(rng.NormFloat64())
		}
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			target, weight := make([]float32, plan.Cells()), make([]float32, plan.Cells())
			plan.Gather(target, p.Target)
			plan.Gather(weight, p.Weight)
			for kind, uncertainty := range map[string][]Uncertainty{"variances": {Variances}, "first exact": {Exact, Variances}, "last exact": {Variances, Variances, Exact}, "exact": {Exact}} {
				cores := p.WithSecondMoments(5, uncertainty...)
				for weighting, w := range map[string][]float32{"no weights": nil, "weights": weight, "weights 0": make([]float32, plan.Cells())} {
					if weighting != "weights" && kind != "variances" {
						continue
					}
					t.Run(fmt.Sprintf("%s/leaf%d/%s/%s", c.Name, leaf, kind, weighting), func(t *testing.T) {
						want := p.passes(plan, cores, target, w, direction)
						for _, open := range backends {
							compareMiddle(t, open, func(b backend.Backend) *middleSystem { return p.equations(b, plan, cores, target, w, direction) }, want, cores[1].Len()-cores[1].Slice())
						}
					})
				}
			}
		}
	}
}

// compareMiddle compares the first n entries, those of all entities but the last, for all numbers of threads.
func compareMiddle(t *testing.T, open Open, compute func(b backend.Backend) *middleSystem, want *middleSystem, n int) {
	t.Helper()
	var first *middleSystem
	for _, threads := range threadCounts {
		b := open(threads)
		got := compute(b)
		if got == nil {
			return // the plan has another owner
		}
		if first != nil {
			if !equal(got.gradient, first.gradient) || !equal(got.diagonal, first.diagonal) || !equal(got.product, first.product) {
				t.Errorf("%s: %d threads give different bits than 1", b.Name(), threads)
			}
			continue
		}
		first = got
		near(t, b.Name()+": gradient", got.gradient[:n], want.gradient[:n])
		near(t, b.Name()+": diagonal", got.diagonal[:n], want.diagonal[:n])
		near(t, b.Name()+": product", got.product[:n], want.product[:n])
		if again := compute(b); !equal(again.gradient, got.gradient) || !equal(again.product, got.product) {
			t.Errorf("%s: used scratch memory changes the result", b.Name())
		}
	}
}

// testNoMiddle checks that other plans have no such equations: trains without a middle core or with several, outer
// cores of rank 1 or with covariances.
func testNoMiddle(t *testing.T, backends []Open) {
	for _, c := range []Case{
		{"effect", []int{20}, nil, 60}, {"two cores", []int{9, 12}, []int{3}, 60}, {"four cores", []int{5, 8, 6, 7}, []int{3, 4, 2}, 60},
		{"first rank 1", []int{5, 30, 6}, []int{1, 4}, 200}, {"last rank 1", []int{5, 30, 6}, []int{4, 1}, 200}, {"covariances", []int{5, 30, 6}, []int{3, 4}, 200},
	} {
		p := c.Make(7)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			cores := p.WithSecondMoments(5, Variances)
			if c.Name == "covariances" {
				cores = p.WithSecondMoments(5, Covariances)
			}
			for _, open := range backends {
				systems, ok := open(2).(backend.MiddleSystems)
				if !ok {
					continue
				}
				if _, ok := systems.MiddleSystems(plan, cores, p.Target, nil, func(int, int, backend.MiddleSystem) {}); ok {
					t.Errorf("%s: leaf %d has equations", c.Name, leaf)
				}
			}
		}
	}
}

// testMiddleNaN checks that a target that is not a number spoils the entity of its cell alone.
func testMiddleNaN(t *testing.T, backends []Open) {
	p := Case{"three", []int{13, 30, 11}, []int{6, 9}, 900}.Make(7)
	plan := backend.NewPlan(p.Shapes, p.Index, backend.LeafFirst)
	target := make([]float32, plan.Cells())
	plan.Gather(target, p.Target)
	cores := p.WithSecondMoments(5, Variances)
	direction, size := cores[1].Mean, cores[1].Slice()
	spoiled := slices.Clone(target)
	spoiled[100] = float32(math.NaN())
	for _, open := range backends {
		b := open(2)
		want := p.equations(b, plan, cores, target, nil, direction)
		if want == nil {
			t.Fatal("the plan has no equations")
		}
		got, others := p.equations(b, plan, cores, spoiled, nil, direction), 0
		for e := range cores[1].N {
			if !equal(got.gradient[e*size:][:size], want.gradient[e*size:][:size]) {
				others++
			}
		}
		if others != 1 || !equal(got.product, want.product) {
			t.Errorf("%s: one target that is not a number changes %d entities", b.Name(), others)
		}
	}
}
