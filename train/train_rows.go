package train

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Of more than manyRows training rows the noise, the values that whole numbers prefer and the training scores are computed from
// fewRows, evenly spaced: the standard error of a variance is then .14 % for normal errors.
const (
	manyRows = 1 << 22
	fewRows  = 1 << 20
)

// someRows are training rows with the field's moments at them.
type someRows struct {
	rows    solver.Observations
	moments tt.Moments
}

// predictedTrain returns training rows and the field's moments at them: some of a large table, unless its noise has factors of
// entities, which need all rows.
func (r *run) predictedTrain() (*solver.Observations, tt.Moments) {
	o, u := &r.parts[dataset.Train], r.spec.Uncertainty
	if _, known := r.moments[dataset.Train]; known || o.Len() <= manyRows || u.Noise == spec.Auto || u.NoiseFactors() != nil {
		return o, r.predicted(dataset.Train)
	}
	if r.some == nil {
		rows := o.Select(spread(o.Len(), fewRows))
		r.some = &someRows{rows, r.momentsTogether(rows.Codes)}
	}
	return &r.some.rows, r.some.moments
}
