package bench

import (
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// noise is how much longer a cell of a larger table may take: no longer, but
// for what two measurements of the same thing differ by.
const noise = 1.1

// scaling measures passes over tables of more and more cells with the same
// stores, items and months. Time that grows at most linearly is time a cell
// that does not grow.
func (r *run) scaling() error {
	s := r.sizes
	var contenders []contender
	var cells []float64
	shapes := shapesOf([3]int{s.stores, s.items, s.months}, s.scalingRank)
	var cores, grad []backend.Slices
	for _, shape := range shapes {
		cores = append(cores, backend.Slices{Shape: shape, Mean: normals(shape.Len())})
		grad = append(grad, backend.NewSlices(shape))
	}
	b := cpu.New(r.path, r.most())
	for _, n := range s.scaling {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		table := makeSales(s.stores, s.items, s.months, n)
		plan := backend.NewPlan(shapes, table.codes, backend.First)
		job := &backend.Job{Adjoint: backend.Residual, Target: table.y, Grad: grad}
		cells = append(cells, float64(plan.Cells()))
		contenders = append(contenders, timed(float64(plan.Cells()), func() error { b.Pass(plan, cores, job); return nil }))
		runtime.GC() // the codes, 12 bytes a cell, have served
	}
	best, err := r.contest(contenders...)
	if err != nil {
		return err
	}
	for i, speed := range best {
		m := Measure{Name: fmt.Sprintf("pass r=%d over %s M cells, %s", s.scalingRank, number(cells[i]/1e6), onThreads(r.most())), Value: 1e9 / speed, Unit: "ns a cell"}
		if i > 0 {
			m.Ratio, m.RatioOf, m.Target = best[i-1]/speed, fmt.Sprintf("that over %s M", number(cells[i-1]/1e6)), atMost(noise)
		}
		r.add(m)
	}
	return nil
}
