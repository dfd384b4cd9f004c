package train

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
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
		o, z = fitdata.Thinned(o, z, most)
	}
	score, err := r.measureRows(z, o, r.horizons[part], part != dataset.Train)
	if err != nil {
		return metrics.Score{}, err
	}
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

// measureCompared scores a part on the rows that formulas were measured on; nil if these are all of
// its rows.
func (r *run) measureCompared(part dataset.Part) (*metrics.Score, error) {
	if part == dataset.Train || len(r.sampled[part]) == 0 {
		return nil, nil
	}
	rows := make([]int, len(r.sampled[part]))
	var horizons []int32
	for k, row := range r.sampled[part] {
		rows[k] = int(row)
		if all := r.horizons[part]; all != nil {
			horizons = append(horizons, all[row])
		}
	}
	o := r.part(part).Select(rows)
	score, err := r.measureRows(r.predicted(part).Select(rows), &o, horizons, true)
	score.Calibration = nil
	return &score, err
}

// measureRows scores observations by the moments of the field there.
func (r *run) measureRows(z tt.Moments, o *solver.Observations, horizons []int32, calibrated bool) (metrics.Score, error) {
	rows := evaluate.RowsOf(o)
	rows.Horizon = horizons
	sums, err := r.measureTogether(z, rows, calibrated)
	if err != nil {
		return metrics.Score{}, err
	}
	return sums.Score(r.model), nil
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
