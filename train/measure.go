package train

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/tt"
)

// measure scores one part. Training rows are scored without calibration, and a sample of
// them if there are many.
func (r *run) measure(part dataset.Part) (metrics.Score, error) {
	var o *solver.Observations
	var z tt.Moments
	if part != dataset.Train {
		o, z = r.part(part), r.predicted(part)
	} else {
		o, z = r.predictedTrain()
		most := maxTrainRows
		if noise := r.model.Noise(); noise.Count() != nil {
			most = maxCountRows
		}
		o, z = thinned(o, z, most)
	}
	rows := rowsOf(o)
	rows.Horizon = r.horizons[part]
	sums, err := r.measureTogether(z, rows, part != dataset.Train)
	if err != nil {
		return metrics.Score{}, err
	}
	score := sums.Score(r.model)
	if all := r.size(part); o.Len() < all {
		score.N = all // what the sample stands for
	}
	if score.Calibration != nil {
		for i := range score.Calibration.CoverageByMode {
			score.Calibration.CoverageByMode[i].Table = nil // too long for the record; an evaluation returns it
		}
	}
	return score, nil
}

// rowsOf returns observations in the form that package evaluate needs.
func rowsOf(o *solver.Observations) evaluate.Rows {
	return evaluate.Rows{Codes: o.Codes, Y: o.Y, Low: o.Low, W: o.W, Exposure: o.Exposure, Censored: o.Censored}
}

// predicted returns the field's moments at the rows of a part, computed once.
func (r *run) predicted(p dataset.Part) tt.Moments {
	if _, ok := r.moments[p]; !ok {
		if r.moments == nil {
			r.moments = map[dataset.Part]tt.Moments{}
		}
		r.moments[p] = r.momentsTogether(r.part(p).Codes)
	}
	return r.moments[p]
}

// maxTrainRows is the maximum number of training rows that are measured, spread over the
// table: their scores only show how far the fit is from them.
const maxTrainRows = 500_000

// maxCountRows is the maximum number of training rows that are measured with a likelihood
// of counts: the median of a mixture of counts is expensive, and the training scores are
// only for orientation.
const maxCountRows = 50_000
