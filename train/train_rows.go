package train

import (
	"cmp"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
)

// many is the number of rows up to which all are used by what learns enough from fewer. Of more,
// the noise, the values that whole numbers prefer and the training scores are computed from a
// fourth of that number of training rows, evenly spaced: the standard error of a variance is then
// .14 % for normal errors. Formulas are fitted to the rows of some ids, about as many.
func (o *Options) many() int { return cmp.Or(o.manyRows, 1<<22) }

// few is the number of rows in place of more than many.
func (o *Options) few() int { return o.many() / 4 }

// someRows are training rows with the field's moments at them.
type someRows struct {
	rows    solver.Observations
	moments tt.Moments
}

// predictedTrain returns training rows and the field's moments at them: some of a large table,
// unless its noise has factors of entities, which need all rows.
func (r *run) predictedTrain() (*solver.Observations, tt.Moments) {
	n, u := r.size(dataset.Train), r.spec.Uncertainty
	if _, known := r.moments[dataset.Train]; known || n <= r.opt.many() || u.Noise == spec.Auto || u.NoiseFactors() != nil {
		return r.part(dataset.Train), r.predicted(dataset.Train)
	}
	if r.some == nil {
		rows := r.selectTrain(r.ownOf(fitdata.Spread(n, r.opt.few())))
		r.some = &someRows{rows, r.momentsTogether(rows.Codes)}
	}
	return &r.some.rows, r.some.moments
}
