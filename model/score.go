package model

import (
	"encoding/json"
	"math"

	"github.com/kernel-fried-tensor/kft/calibrate"
)

// A Score measures predictions of one part of the data. R2 and RMSE judge the
// means, MAE the medians, R2Scale the predictions on the modelling scale. A
// measure that is not defined (no rows, or a constant target) is NaN.
type Score struct {
	N       int
	R2      float64
	RMSE    float64
	MAE     float64
	R2Scale float64

	// Calibration measures the predicted distributions; nil where it was not
	// asked for.
	Calibration *calibrate.Report
}

// MarshalJSON writes undefined measures as null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{s.N, calibrate.Number(s.R2), calibrate.Number(s.RMSE), calibrate.Number(s.MAE), calibrate.Number(s.R2Scale), s.Calibration})
}

// scoreJSON is a score's JSON form: its own fields, and beside them those of the
// calibration.
type scoreJSON struct {
	N       int              `json:"n"`
	R2      calibrate.Number `json:"r2"`
	RMSE    calibrate.Number `json:"rmse"`
	MAE     calibrate.Number `json:"mae"`
	R2Scale calibrate.Number `json:"r2_scale"`
	*calibrate.Report
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Score) UnmarshalJSON(data []byte) error {
	v := scoreJSON{R2: missing, RMSE: missing, MAE: missing, R2Scale: missing}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = Score{v.N, float64(v.R2), float64(v.RMSE), float64(v.MAE), float64(v.R2Scale), v.Report}
	if s.Calibration != nil {
		s.Calibration.N = v.N // hidden by the score's own
	}
	return nil
}

var missing = calibrate.Number(math.NaN())

// A Tally sums what a Score needs, an observation at a time. The zero Tally is
// ready, and tallies add up.
type Tally struct {
	n                 int
	weight            float64
	squares, absolute float64 // of y against the mean, and the median
	scaleSquares      float64
	y, scaled         moments
}

// moments are the running weighted mean and sum of squared deviations.
type moments struct{ weight, mean, squares float64 }

func (m *moments) add(v, w float64) {
	if w == 0 {
		return
	}
	m.weight += w
	d := v - m.mean
	m.mean += d * w / m.weight
	m.squares += w * d * (v - m.mean)
}

func (m *moments) merge(o moments) {
	if o.weight == 0 {
		return
	}
	total := m.weight + o.weight
	d := o.mean - m.mean
	m.squares += o.squares + d*d*m.weight*o.weight/total
	m.mean += d * o.weight / total
	m.weight = total
}

// Add counts one observation y of weight w, its predicted mean and median, and
// target and prediction on the modelling scale.
func (t *Tally) Add(y, w, mean, median, onScale, predictedOnScale float64) {
	t.n++
	t.weight += w
	t.squares += w * (y - mean) * (y - mean)
	t.absolute += w * math.Abs(y-median)
	t.y.add(y, w)
	d := onScale - predictedOnScale
	t.scaleSquares += w * d * d
	t.scaled.add(onScale, w)
}

// Merge adds another tally.
func (t *Tally) Merge(o *Tally) {
	t.n += o.n
	t.weight += o.weight
	t.squares += o.squares
	t.absolute += o.absolute
	t.scaleSquares += o.scaleSquares
	t.y.merge(o.y)
	t.scaled.merge(o.scaled)
}

// Score returns the measures.
func (t *Tally) Score() Score {
	return Score{
		N:       t.n,
		R2:      rSquared(t.squares, t.y.squares),
		RMSE:    math.Sqrt(t.squares / t.weight),
		MAE:     t.absolute / t.weight,
		R2Scale: rSquared(t.scaleSquares, t.scaled.squares),
	}
}

func rSquared(residual, total float64) float64 {
	if !(total > 0) {
		return math.NaN()
	}
	return 1 - residual/total
}
