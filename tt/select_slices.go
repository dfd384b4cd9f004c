package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A pass over at most maxSelectCells cells works on a copy of the slices that they
// use, because parts of a pass take time in proportion to the size of a core. Cores
// with fewer than minSelectEntities entities are not copied.
const (
	maxSelectCells    = 256
	minSelectEntities = 64
)

// selectSlices replaces the slices of cores with at least large entities by those that
// the plan uses, and renumbers the entities of the plan. The order of the plan stays the same, and with
// it all bits of a pass.
func selectSlices(plan *backend.Plan, cores []backend.Slices, large int) {
	for p := range cores {
		if cores[p].N < large {
			continue
		}
		column := plan.LeafEntity
		if level := slices.Index(plan.Chain, p); level >= 0 {
			column = plan.Entity[level]
		}
		if len(column) >= cores[p].N {
			continue
		}
		used := slices.Clone(column)
		slices.Sort(used)
		used = slices.Compact(used)
		for i, e := range column {
			at, _ := slices.BinarySearch(used, e)
			column[i] = int32(at)
		}
		cores[p] = sliceSubset(cores[p], used)
		plan.Shapes[p] = cores[p].Shape
	}
}

// sliceSubset returns a copy of the slices of some entities.
func sliceSubset(core backend.Slices, entities []int32) backend.Slices {
	subset := backend.Slices{Shape: backend.Shape{Left: core.Left, N: len(entities), Right: core.Right}}
	gather := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		rows := make([]float32, 0, len(entities)*size)
		for _, e := range entities {
			rows = append(rows, values[int(e)*size:][:size]...)
		}
		return rows
	}
	size := core.Slice()
	subset.Mean, subset.Var, subset.Cov = gather(core.Mean, size), gather(core.Var, size), gather(core.Cov, size*size)
	return subset
}
