package bench

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// passes measures the primitives of training over all cells of the table, for
// a train store, item, month of each rank.
func (r *run) passes() error {
	for _, rank := range r.sizes.ranks {
		t := newTrained(r.sales, rank)
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

// trained is a train over a table with plans from both its ends.
type trained struct {
	cores, grad []backend.Slices
	plans       [2]*backend.Plan // by backend.LeafEnd
	cheaper     *backend.Plan
	y           []float32 // in the cheaper plan's order
}

func newTrained(s *sales, rank int) *trained {
	shapes := shapesOf(s.sizes, rank)
	t := &trained{}
	var wait sync.WaitGroup
	for _, end := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
		wait.Go(func() { t.plans[end] = backend.NewPlan(shapes, s.codes, end) })
	}
	wait.Wait()
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

// pass measures residuals and the gradients of all cores. It is credited
// 6 R^2 operations a cell, what mean and pullback cost where nothing is shared
// between cells; the target is set on that credit at rank 32 on all threads.
func (r *run) pass(t *trained, rank, threads int) error {
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

// traffic returns the bytes that a pass with all gradients loads and stores,
// from whatever cache: for a cell its leaf row twice, that row's gradient in
// and out, its entity twice, its target, its value and its adjoint out and in;
// for each level that a node computes a core slice twice and its gradient in
// and out. A level that starts the chain is one slice in and a gradient in and
// out.
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

// product measures what a step of conjugate gradients for the inner core
// takes: the action of its normal equations.
func (r *run) product(t *trained, rank int) error {
	b := cpu.New(r.path, r.most())
	job := &backend.Job{Adjoint: backend.Product, Grad: []backend.Slices{{}, t.grad[1], {}}}
	best, err := r.contest(timed(1, func() error { b.Pass(t.cheaper, t.cores, job); return nil }))
	if err != nil {
		return err
	}
	r.add(Measure{Name: fmt.Sprintf("product of the inner core r=%d, %s", rank, onThreads(r.most())), Value: 1e3 / best[0], Unit: "ms"})
	return nil
}

// rows measures the normal equations of both outer cores: R^2 multiply-adds a
// cell for the Gram matrices. One of the plans finds the targets in the other's
// order, which does not matter to the time.
func (r *run) rows(t *trained, rank int) error {
	b := cpu.New(r.path, r.most())
	for end, name := range []string{"first", "last"} {
		plan := t.plans[end]
		speed, peak, err := r.againstPeak(r.most(), 1, func() error {
			b.NormalEquations(plan, t.cores, t.y, nil, func(int, int, []float64, []float64) {})
			return nil
		})
		if err != nil {
			return err
		}
		flops := 2 * float64(rank*rank) * float64(plan.Cells()) * speed
		r.add(Measure{Name: fmt.Sprintf("rows of the %s core r=%d, %s", name, rank, onThreads(r.most())), Value: 1e3 / speed, Unit: "ms",
			Ratio: flops / peak, RatioOf: "FMA peak"})
	}
	return nil
}
