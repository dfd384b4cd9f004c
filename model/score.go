package model

import (
	"encoding/json"
	"math"
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
}

// MarshalJSON writes undefined measures as null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		N       int    `json:"n"`
		R2      number `json:"r2"`
		RMSE    number `json:"rmse"`
		MAE     number `json:"mae"`
		R2Scale number `json:"r2_scale"`
	}{s.N, number(s.R2), number(s.RMSE), number(s.MAE), number(s.R2Scale)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Score) UnmarshalJSON(data []byte) error {
	var v struct {
		N       int      `json:"n"`
		R2      *float64 `json:"r2"`
		RMSE    *float64 `json:"rmse"`
		MAE     *float64 `json:"mae"`
		R2Scale *float64 `json:"r2_scale"`
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	or := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	*s = Score{v.N, or(v.R2), or(v.RMSE), or(v.MAE), or(v.R2Scale)}
	return nil
}

type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

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
