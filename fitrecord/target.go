package fitrecord

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A Target is one of several targets of a model, with its scale and its scores in its own
// units.
type Target struct {
	Name  string            `json:"name"`
	Scale targetscale.Scale `json:"scale"`
	Train metrics.Score     `json:"train"`
	Valid metrics.Score     `json:"valid"`
	Test  metrics.Score     `json:"test"`
	// Baseline are the formulas of this target alone.
	Baseline    []BaselineScores `json:"baseline"`
	DecileEdges []float64        `json:"decile_edges,omitempty"`
}

// Record returns the record with the scores of the target.
func (t Target) Record(all Record) Record {
	all.Train, all.Valid, all.Test, all.Baseline, all.DecileEdges, all.Targets, all.Compared = t.Train, t.Valid, t.Test, t.Baseline, t.DecileEdges, nil, nil
	return all
}

func (t Target) clone() Target {
	r := t.Record(Record{}).Clone()
	t.Train, t.Valid, t.Test, t.Baseline, t.DecileEdges = r.Train, r.Valid, r.Test, r.Baseline, slices.Clone(t.DecileEdges)
	return t
}
