package train

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/tt"
)

// plannedRows are the plans of the training rows that the solver made, for the response and the
// statistics of the model.
type plannedRows struct {
	engine  backend.Backend // with the memory of the plans
	release func() error
	rows    *observed.Planned
}

// keepPlanned keeps the plans of a solver and its engine, or releases the engine if there are none.
func (r *run) keepPlanned(engine backend.Backend, solved *solver.Report, release func() error) error {
	if solved.Planned == nil || r.opt.Compare {
		return release()
	}
	r.planned = &plannedRows{engine: engine, release: release, rows: solved.Planned}
	solved.Planned = nil
	return nil
}

// releasePlanned releases what keepPlanned keeps.
func (r *run) releasePlanned() error {
	if r.planned == nil {
		return nil
	}
	kept := r.planned
	r.planned = nil
	for _, p := range kept.rows.Plans {
		p.Free()
	}
	return kept.release()
}

// plannedEngine is solverEngine, with the engine of the solver if it was kept.
func (r *run) plannedEngine() (backend.Backend, func() error) {
	if r.planned == nil {
		return r.solverEngine()
	}
	return r.planned.engine, func() error { return nil }
}

// chunk returns the training rows as the solver planned them, nil if that is not known.
func (r *run) chunk() *tt.Chunk {
	if r.planned == nil || len(r.planned.rows.Plans) != len(r.field.Terms) {
		return nil
	}
	for k, t := range r.field.Terms {
		if !slices.Equal(r.planned.rows.Plans[k].Shapes, t.Shapes()) {
			return nil
		}
	}
	return r.field.ChunkOf(r.planned.engine, r.size(dataset.Train), r.planned.rows)
}
