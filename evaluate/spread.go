package evaluate

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// ForecastScores returns the conformal scores of rows, the locations of their distributions and their [MeanSpread], given the field's moments.
func ForecastScores(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, seed uint64) (scores, location []float64, spread float64) {
	scores, location = make([]float64, len(rows.Y)), make([]float64, len(rows.Y))
	backend.ParallelFor(b, len(rows.Y), func(i int) {
		p := m.Uncorrected(z, rows.given(), i)
		scores[i], location[i] = p.Score(rows.Target(i), seed, uint64(i)), p.Location()
	})
	return scores, location, MeanSpread(m, z, rows)
}

// MeanSpread returns the geometric mean of the sd, on the scale of the model and without the conformal correction, of the forecasts
// for the longest horizon among some rows; 1 without forecasts.
func MeanSpread(m *model.Model, z tt.Moments, rows Rows) float64 {
	if len(rows.Horizon) == 0 || slices.Max(rows.Horizon) < 1 {
		return 1
	}
	sum, n, longest := 0.0, 0.0, slices.Max(rows.Horizon)
	for i, h := range rows.Horizon {
		if h != longest {
			continue
		}
		if sd := m.Uncorrected(z, rows.given(), i).Spread(); sd > 0 {
			sum += math.Log(sd)
			n++
		}
	}
	return math.Exp(sum / max(n, 1))
}

// OriginOf returns the origin of a correction by horizon that comes from the forecasts of some rows alone, given the field's moments.
// Corrections that are not by horizon have none: no surprise of a period is in them.
func OriginOf(m *model.Model, z tt.Moments, rows Rows, c *conformal.Correction) conformal.Origin {
	if len(c.Factors()) == 0 {
		return conformal.Origin{}
	}
	return conformal.NewOrigin(c, MeanSpread(m, z, rows))
}

// CorrectAgain returns a model that was trained again, on the rows of the forecasts that its correction comes from too, with what
// remains of the correction. If later rows are given, with the field's moments, they say how the sd of forecasts has
// changed. Their own errors change the correction only after the next training, because they measure the model before.
func CorrectAgain(b backend.Backend, m *model.Model, z tt.Moments, rows Rows, o conformal.Origin) (*model.Model, conformal.Origin, error) {
	c := o.Later
	if c != nil {
		m = m.WithMeanCurve(nil) // it made means smaller because the sd was too large
	} else {
		scores, _, spread := ForecastScores(b, m, z, rows, m.Spec().Seed)
		o.Later = o.Again(scores)
		if c = o.After(spread); c == o.Correction {
			return m, o, nil
		}
	}
	m, err := m.WithCorrection(m.Spec().Uncertainty.Conformal, c)
	return m, o, err
}
