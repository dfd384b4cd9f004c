// Package backendtest is the conformance suite for backends. It checks
// agreement with the reference backend on trains of many shapes, and that
// results have the same bits for any number of threads.
package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// Case describes a train with observed cells.
type Case struct {
	Name  string
	Sizes []int
	Ranks []int // interior ranks, one fewer than sizes
	Cells int
}

// Cases covers one to five cores, equal and unequal ranks, ranks at and off the
// boundaries of vector registers, single entities, few and many cells. With
// -short the cases have fewer cells, but enough to distribute over threads:
// under the race detector the reference backend takes minutes for all of them.
func Cases() []Case {
	cases := []Case{
		{"effect", []int{50}, nil, 9000},
		{"matrix", []int{300, 24}, []int{2}, 20000},
		{"matrix rank 1", []int{7, 5}, []int{1}, 30},
		{"matrix wide", []int{5, 4000}, []int{17}, 12000},
		{"matrix few cells each", []int{2000, 3}, []int{2}, 6000},
		{"three thin", []int{40, 60, 24}, []int{1, 2}, 9000},
		{"four thin", []int{12, 9, 14, 6}, []int{1, 2, 1}, 9000},
		{"three", []int{40, 60, 24}, []int{32, 32}, 9000},
		{"three odd ranks", []int{40, 60, 24}, []int{5, 19}, 9000},
		{"three rank 30", []int{70, 90, 12}, []int{30, 30}, 13000},
		{"three rank 64", []int{30, 20, 12}, []int{64, 64}, 1500},
		{"three small", []int{2, 3, 2}, []int{2, 2}, 12},
		{"one entity", []int{1, 1, 1}, []int{3, 3}, 1},
		{"four", []int{12, 9, 14, 6}, []int{4, 8, 3}, 6000},
		{"five", []int{6, 5, 4, 5, 3}, []int{2, 3, 4, 2}, 3000},
		{"three long rank", []int{9, 8, 7}, []int{70, 100}, 500},
		{"no cells", []int{4, 4, 4}, []int{2, 2}, 0},
	}
	for i := range cases {
		if c := &cases[i]; testing.Short() && c.Cells > 1000 {
			c.Cells = max(1000, c.Cells/8)
		}
	}
	return cases
}

// Problem is a case with random values.
type Problem struct {
	Shapes         []backend.Shape
	Cores          []backend.Slices
	Index          [][]int32
	Target, Weight []float32 // in order of the observations
}

// Make draws a case's cores, cells, targets and weights.
func (c Case) Make(seed uint64) Problem {
	rng := rand.New(rand.NewPCG(seed, 1))
	var p Problem
	left := 1
	for i, n := range c.Sizes {
		right := 1
		if i < len(c.Ranks) {
			right = c.Ranks[i]
		}
		s := backend.NewSlices(backend.Shape{Left: left, N: n, Right: right})
		for k := range s.Mean {
			s.Mean[k] = float32(rng.NormFloat64() / math.Sqrt(float64(left)))
		}
		p.Shapes, p.Cores = append(p.Shapes, s.Shape), append(p.Cores, s)
		column := make([]int32, c.Cells)
		for k := range column {
			// Squaring makes some entities frequent and some rare.
			u := rng.Float64()
			column[k] = int32(u * u * float64(n))
		}
		p.Index = append(p.Index, column)
		left = right
	}
	p.Target, p.Weight = make([]float32, c.Cells), make([]float32, c.Cells)
	for k := range p.Target {
		p.Target[k], p.Weight[k] = float32(rng.NormFloat64()), float32(rng.Float64())
	}
	return p
}

// Open returns a backend that uses the given number of threads.
type Open func(threads int) backend.Backend

// Run tests backends against the results of the reference backend.
func Run(t *testing.T, backends ...Open) {
	for _, c := range Cases() {
		p := c.Make(7)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			name := fmt.Sprintf("%s/leaf%d", c.Name, leaf)
			t.Run(name, func(t *testing.T) {
				testPass(t, backends, p, plan)
				testNormalEquations(t, backends, p, plan)
			})
		}
		m := c.ForMoments().Make(7)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(m.Shapes, m.Index, leaf)
			t.Run(fmt.Sprintf("%s/leaf%d/moments", c.Name, leaf), func(t *testing.T) { testMoments(t, backends, m, plan) })
		}
		t.Run(c.Name+"/evaluate", func(t *testing.T) { testEvaluate(t, backends, p) })
	}
	t.Run("middle", func(t *testing.T) {
		testMiddle(t, backends)
		testNoMiddle(t, backends)
		testMiddleNaN(t, backends)
	})
	t.Run("gemm", func(t *testing.T) {
		for _, open := range backends {
			testGemm(t, open(2))
		}
	})
}

var threadCounts = []int{1, 2, 8}

// jobs lists the kinds of pass, each with the cores whose gradient is
// requested.
func jobs(p Problem, plan *backend.Plan) map[string]func() *backend.Job {
	target, weight := make([]float32, plan.Cells()), make([]float32, plan.Cells())
	plan.Gather(target, p.Target)
	plan.Gather(weight, p.Weight)
	grads := func(cores ...int) []backend.Slices {
		g := make([]backend.Slices, len(p.Shapes))
		for _, c := range cores {
			g[c] = backend.NewSlices(p.Shapes[c])
			for k := range g[c].Mean {
				g[c].Mean[k] = float32(math.NaN()) // must be overwritten
			}
		}
		return g
	}
	all := make([]int, len(p.Shapes))
	for i := range all {
		all[i] = i
	}
	mean := func() []float32 { return make([]float32, plan.Cells()) }
	m := map[string]func() *backend.Job{
		"mean": func() *backend.Job { return &backend.Job{Mean: mean()} },
		"residual": func() *backend.Job {
			return &backend.Job{Adjoint: backend.Residual, Target: target, Grad: grads(all...)}
		},
		"residual weighted": func() *backend.Job {
			return &backend.Job{Mean: mean(), Adjoint: backend.Residual, Target: target, Weight: weight, Grad: grads(all...)}
		},
		"loss only": func() *backend.Job { return &backend.Job{Adjoint: backend.Residual, Target: target} },
		"given":     func() *backend.Job { return &backend.Job{Adjoint: backend.Given, Target: target, Grad: grads(all...)} },
	}
	for i := range p.Shapes {
		m[fmt.Sprintf("product core %d", i)] = func() *backend.Job {
			return &backend.Job{Adjoint: backend.Product, Weight: weight, Grad: grads(i)}
		}
	}
	m["product unweighted"] = func() *backend.Job { return &backend.Job{Adjoint: backend.Product, Grad: grads(0)} }
	return m
}

func testPass(t *testing.T, backends []Open, p Problem, plan *backend.Plan) {
	for name, job := range jobs(p, plan) {
		want := job()
		wantLoss := ref.Backend{}.Pass(plan, p.Cores, want)
		comparePass(t, name, backends, plan, p.Cores, job, want, wantLoss)
	}
}

type equations struct{ gram, rhs []float64 }

func normalEquations(b backend.Backend, p Problem, plan *backend.Plan, weight []float32) []equations {
	target := make([]float32, plan.Cells())
	plan.Gather(target, p.Target)
	var w []float32
	if weight != nil {
		w = make([]float32, plan.Cells())
		plan.Gather(w, weight)
	}
	out := make([]equations, p.Shapes[plan.Leaf].N)
	b.NormalEquations(plan, p.Cores, target, w, func(_, e int, gram, rhs []float64) {
		out[e] = equations{append([]float64(nil), gram...), append([]float64(nil), rhs...)}
	})
	return out
}

func testNormalEquations(t *testing.T, backends []Open, p Problem, plan *backend.Plan) {
	for name, weight := range map[string][]float32{"equations": nil, "equations weighted": p.Weight} {
		want := normalEquations(ref.Backend{}, p, plan, weight)
		for _, open := range backends {
			var first []equations
			for _, threads := range threadCounts {
				b := open(threads)
				got := normalEquations(b, p, plan, weight)
				for e := range want {
					near(t, fmt.Sprintf("%s: %s gram of %d", b.Name(), name, e), narrow(got[e].gram), narrow(want[e].gram))
					near(t, fmt.Sprintf("%s: %s rhs of %d", b.Name(), name, e), narrow(got[e].rhs), narrow(want[e].rhs))
					if first != nil && (!equal64(got[e].gram, first[e].gram) || !equal64(got[e].rhs, first[e].rhs)) {
						t.Errorf("%s: %s: %d threads give different bits than 1", b.Name(), name, threads)
					}
				}
				if first == nil {
					first = got
				}
			}
		}
	}
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

func equal64(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func testEvaluate(t *testing.T, backends []Open, p Problem) {
	want := make([]float32, len(p.Target))
	ref.Backend{}.Evaluate(want, p.Cores, p.Index)
	for _, open := range backends {
		var first []float32
		for _, threads := range threadCounts {
			got := make([]float32, len(p.Target))
			b := open(threads)
			b.Evaluate(got, p.Cores, p.Index)
			near(t, b.Name()+": evaluate", got, want)
			if first != nil && !equal(got, first) {
				t.Errorf("%s: evaluate: %d threads give different bits than 1", b.Name(), threads)
			}
			first = got
		}
	}
}

func testGemm(t *testing.T, b backend.Backend) {
	rng := rand.New(rand.NewPCG(3, 3))
	draw := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	const m, n, k = 37, 45, 29
	a, bb, c := draw(m*k), draw(k*n), draw(m*n)
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			lda, ldb := k, n
			if ta {
				lda = m
			}
			if tb {
				ldb = k
			}
			got, want := append([]float32(nil), c...), append([]float32(nil), c...)
			b.Gemm(ta, tb, m, n, k, 1.5, a, lda, bb, ldb, 0.5, got, n)
			ref.Backend{}.Gemm(ta, tb, m, n, k, 1.5, a, lda, bb, ldb, 0.5, want, n)
			near(t, fmt.Sprintf("%s: gemm %v %v", b.Name(), ta, tb), got, want)
		}
	}
}
