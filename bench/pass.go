package bench

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// passes measures the primitives of training over all cells of the table, for a
// tensor train over store, item and month of each rank.
func (r *run) passes() error {
	for _, rank := range r.sizes.ranks {
		t := newTrainFixture(r.sales, rank)
		for _, threads := range r.threads {
			if err := r.pass(t, rank, threads); err != nil {
				return err
			}
		}
		if err := r.product(t, rank); err != nil {
			return err
		}
		if slices.Contains(r.sizes.rowRanks, rank) {
			if err := r.rows(t, rank); err != nil {
				return err
			}
		}
	}
	return nil
}

// trainFixture is a tensor train over a table with plans from both ends.
type trainFixture struct {
	cores, grad []backend.Slices
	plans       [2]*backend.Plan // by backend.LeafEnd
	cheaper     *backend.Plan
	y           []float32 // in the order of the cheaper plan
}

func newTrainFixture(s *sales, rank int) *trainFixture {
	shapes := shapesOf(s.sizes, rank)
	t := &trainFixture{}
	ends := []backend.LeafEnd{backend.LeafFirst, backend.LeafLast}
	parallel.For(len(ends), len(ends), func(i int) { t.plans[ends[i]] = backend.NewPlan(shapes, s.codes, ends[i]) })
	t.cheaper = t.plans[backend.LeafFirst]
	if t.plans[backend.LeafLast].Work() < t.cheaper.Work() {
		t.cheaper = t.plans[backend.LeafLast]
	}
	t.y = make([]float32, len(s.y))
	t.cheaper.Gather(t.y, s.y)
	for _, shape := range shapes {
		t.cores = append(t.cores, backend.Slices{Shape: shape, Mean: normals(shape.Len())})
		t.grad = append(t.grad, backend.NewSlices(shape))
	}
	return t
}

func shapesOf(sizes [3]int, rank int) []backend.Shape {
	return []backend.Shape{{Left: 1, N: sizes[0], Right: rank}, {Left: rank, N: sizes[1], Right: rank}, {Left: rank, N: sizes[2], Right: 1}}
}

// pass measures residuals and the gradients of all cores. It is credited with
// 6 R^2 operations per cell, the cost of mean and pullback without sharing between
// cells. The target applies to that credit at rank 32 on all threads.
func (r *run) pass(t *trainFixture, rank, threads int) error {
	b := cpu.New(r.path, threads)
	job := &backend.Job{Adjoint: backend.Residual, Target: t.y, Grad: t.grad}
	passes, peak, err := r.againstPeak(threads, 1, func() error { b.Pass(t.cheaper, t.cores, job); return nil })
	if err != nil {
		return err
	}
	cells := float64(t.cheaper.Cells())
	name := fmt.Sprintf("pass r=%d, %s", rank, onThreads(threads))
	credited := Measure{Name: name, Value: 1e3 / passes, Unit: "ms",
		Ratio: 6 * float64(rank*rank) * cells * passes / peak, RatioOf: "FMA peak, credited"}
	if rank == 32 && threads > 1 {
		credited.Target = atLeast(1)
	}
	r.add(credited)
	r.add(Measure{Name: name + ": cells", Value: cells * passes / 1e6, Unit: "M/s"})
	flops := 2 * t.cheaper.Work() * passes
	r.add(Measure{Name: name + ": real flops", Value: flops / 1e9, Unit: "GFLOP/s", Ratio: flops / peak, RatioOf: "FMA peak"})
	r.add(Measure{Name: name + ": bytes", Value: traffic(t.cheaper) * passes / 1e9, Unit: "GB/s"})
	return nil
}

// traffic returns the bytes that a pass with all gradients loads and stores, from
// any cache. Per cell: its leaf row twice, the gradient of that row in and out, its
// entity twice, its target, its value, and its adjoint out and in. Per computed
// level of a node: a core slice twice and its gradient in and out. The first level
// of the chain takes one slice in and a gradient in and out.
func traffic(p *backend.Plan) float64 {
	bytes := float64(p.Cells()) * (16*float64(p.LeafRank()) + 2*4 + 4 + 2*4 + 2*4)
	for j := range p.Nodes() {
		for level := int(p.Changed[j]); level < len(p.Chain); level++ {
			times := 16.0
			if level == 0 {
				times = 12
			}
			bytes += times * float64(p.Shapes[p.Chain[level]].Slice())
		}
	}
	return bytes
}

// product measures one conjugate gradient step for the inner core: the product
// with its normal equations.
func (r *run) product(t *trainFixture, rank int) error {
	b := cpu.New(r.path, r.maxThreads())
	job := &backend.Job{Adjoint: backend.Product, Grad: []backend.Slices{{}, t.grad[1], {}}}
	best, err := r.alternate(timed(1, func() error { b.Pass(t.cheaper, t.cores, job); return nil }))
	if err != nil {
		return err
	}
	r.add(Measure{Name: fmt.Sprintf("product of the inner core r=%d, %s", rank, onThreads(r.maxThreads())), Value: 1e3 / best[0], Unit: "ms"})
	return nil
}

// rows measures the normal equations of both outer cores: R^2 multiply-adds per
// cell for the Gram matrices. One of the plans gets the targets in the order of the
// other, which does not affect the time.
func (r *run) rows(t *trainFixture, rank int) error {
	b := cpu.New(r.path, r.maxThreads())
	for end, name := range []string{"first", "last"} {
		plan := t.plans[end]
		speed, peak, err := r.againstPeak(r.maxThreads(), 1, func() error {
			b.NormalEquations(plan, t.cores, t.y, nil, func(int, int, []float64, []float64) {})
			return nil
		})
		if err != nil {
			return err
		}
		flops := 2 * float64(rank*rank) * float64(plan.Cells()) * speed
		r.add(Measure{Name: fmt.Sprintf("rows of the %s core r=%d, %s", name, rank, onThreads(r.maxThreads())), Value: 1e3 / speed, Unit: "ms",
			Ratio: flops / peak, RatioOf: "FMA peak"})
	}
	return nil
}
