package evaluate

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// ForecastScores returns the conformal scores of rows, the locations of their distributions and their [MeanSpread].
func ForecastScores(b backend.Backend, m *model.Model, rows Rows, seed uint64) (scores, location []float64, spread float64) {
	z := m.Moments(b, rows.Codes)
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
