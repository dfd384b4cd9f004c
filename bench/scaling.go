package bench

import (
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// noise is the allowed growth of the time per cell with the table size, which
// covers the variation between repeated measurements.
const noise = 1.1

// scaling measures passes over tables of increasing size with the same stores,
// items and months. The smaller tables contain a subset of the stores of the
// largest one, so that all have as many cells per store and item and as many items
// per store. The cost per cell is then the same, except for the fixed cost of a
// pass, which affects the smaller tables more.
//
// The time grows at most linearly if the time per cell does not grow. The fixed
// cost of a pass could hide growth, so the cells added by each step are also
// compared: (t_3 - t_2) / (n_3 - n_2) with (t_2 - t_1) / (n_2 - n_1), in which the
// fixed cost cancels.
func (r *run) scaling() error {
	s := r.sizes
	shapes := shapesOf([3]int{s.stores, s.items, s.months}, s.scalingRank)
	var cores, grad []backend.Slices
	for _, shape := range shapes {
		cores = append(cores, backend.Slices{Shape: shape, Mean: normals(shape.Len())})
		grad = append(grad, backend.NewSlices(shape))
	}
	b := cpu.New(r.path, r.maxThreads())
	var candidates []candidate
	var cells []float64
	largest := s.scaling[len(s.scaling)-1]
	whole := makeSales(s.stores, s.items, s.months, largest)
	for _, n := range s.scaling {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		table := whole.ofStores(max(1, s.stores*n/largest))
		plan := backend.NewPlan(shapes, table.codes, backend.LeafFirst)
		job := &backend.Job{Adjoint: backend.Residual, Target: table.y, Grad: grad}
		cells = append(cells, float64(plan.Cells()))
		candidates = append(candidates, timed(float64(plan.Cells()), func() error { b.Pass(plan, cores, job); return nil }))
	}
	whole = nil
	runtime.GC() // frees the codes, 12 bytes per cell
	best, err := r.alternate(candidates...)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("pass r=%d, %s, ", s.scalingRank, onThreads(r.maxThreads()))
	million := func(i int) string { return number(cells[i] / 1e6) }
	for i, speed := range best {
		m := Measure{Name: name + million(i) + " M cells: time per cell", Value: 1e9 / speed, Unit: "ns"}
		if i > 0 {
			m.Ratio, m.RatioOf, m.Target = best[i-1]/speed, "that over "+million(i-1)+" M", atMost(noise)
		}
		r.add(m)
	}
	added := func(i int) float64 { return (cells[i]/best[i] - cells[i-1]/best[i-1]) / (cells[i] - cells[i-1]) }
	for i := 1; i < len(best); i++ {
		m := Measure{Name: name + million(i-1) + " to " + million(i) + " M cells: time per added cell", Value: max(0, 1e9*added(i)), Unit: "ns"}
		if i > 1 && added(i-1) > 0 && added(i) > 0 { // small tables may take no longer than smaller ones
			// No target: data outside of the caches cost a little more.
			m.Ratio, m.RatioOf = added(i)/added(i-1), "that from "+million(i-2)+" to "+million(i-1)+" M"
		}
		r.add(m)
	}
	return nil
}

// ofStores returns the cells of n stores, evenly spaced among all.
func (s *sales) ofStores(n int) *sales {
	if n >= s.sizes[0] {
		return s
	}
	chosen := make([]bool, s.sizes[0])
	for k := range n {
		chosen[k*s.sizes[0]/n] = true
	}
	some := &sales{sizes: s.sizes, codes: make([][]int32, 3)}
	for k, store := range s.codes[0] {
		if chosen[store] {
			for m := range some.codes {
				some.codes[m] = append(some.codes[m], s.codes[m][k])
			}
			some.y = append(some.y, s.y[k])
		}
	}
	return some
}
