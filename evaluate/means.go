package evaluate

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// MeanCurve computes the correction of predicted means from rows that were used for
// nothing else, and the field's moments at them; nil if they are too few.
func MeanCurve(b backend.Backend, m *model.Model, z tt.Moments, rows Rows) *predictive.MeanCurve {
	n := len(rows.Y)
	p := meanPairs{predicted: uncorrectedMeans(b, m, z, rows.given()), actual: make([]float64, n), weight: make([]float64, n)}
	for i := range n {
		p.actual[i], p.weight[i] = rows.Target(i), 1
		if rows.W != nil {
			p.weight[i] = float64(rows.W[i])
		}
	}
	return p.curve(backend.RanksOf(b), b.Threads())
}

// ForecastMeanCurve is [MeanCurve] for rows of later periods than those of the training, by their horizons. The errors of a
// period say little about the means of others, so values count without what rows of the same period, and rows of
// similar predictions, have in common on the modelling scale. What is left is what the shape of the errors adds to means in the units
// of the target, such as rare large values: one factor. It is nil for a scale in these units, for counts, and for the errors of few
// series, which are alike.
func ForecastMeanCurve(b backend.Backend, m *model.Model, z tt.Moments, rows Rows) *predictive.MeanCurve {
	scale, n := m.Scale().Transform, len(rows.Y)
	if scale.Linear() || scale.Linked() || rows.Horizon == nil {
		return nil
	}
	values := eachRow(b, n, 2, func(i int, dst []float64) {
		p := m.Uncorrected(z, rows.given(), i)
		dst[0], dst[1] = p.Location(), p.UncorrectedMean()
	})
	errors, location := make([]float64, n), make([]float64, n)
	for i := range n {
		location[i] = values[2*i]
		errors[i] = scale.Forward(rows.Target(i)) - location[i]
	}
	conformal.Centre(errors, location, rows.Horizon, (&scores{score: errors}).bins())
	if series := m.Series(); series != nil {
		var known []float64
		var block []int
		for i, e := range errors {
			if rows.Horizon[i] >= 1 && !math.IsNaN(e) && !math.IsInf(e, 0) {
				known, block = append(known, e), append(block, series.Find(rows.Codes, i))
			}
		}
		if conformal.Independent(known, block) < conformal.MinMeanRows {
			return nil
		}
	}
	var p meanPairs
	for i, e := range errors {
		weight := 1.0
		if rows.W != nil {
			weight = float64(rows.W[i])
		}
		if y := scale.Inverse(location[i] + e); rows.Horizon[i] >= 1 && !math.IsNaN(y) && !math.IsInf(y, 0) {
			if m.Scale().NonNegative {
				y = max(y, 0)
			}
			p.add(values[2*i+1], y, weight)
		}
	}
	return conformal.NewMeanFactor(backend.RanksOf(b), b.Threads(), p.predicted, p.actual, p.weight)
}

// DecileEdges returns the deciles of the predictions of rows, before the correction of
// means, given by their moments. They separate the rows of which a bias is reported.
func DecileEdges(b backend.Backend, m *model.Model, z tt.Moments, rows Rows) []float64 {
	return metrics.DecileEdges(backend.RanksOf(b), b.Threads(), uncorrectedMeans(b, m, z, rows.given()))
}

// uncorrectedMeans returns the predicted means of rows before their correction.
func uncorrectedMeans(b backend.Backend, m *model.Model, z tt.Moments, rows model.Rows) []float64 {
	return eachRow(b, len(z.Mean), 1, func(i int, dst []float64) { dst[0] = m.Uncorrected(z, rows, i).UncorrectedMean() })
}

// eachRow returns length numbers of each of n rows, which work sets. Over ranks of the backend,
// each computes those of some rows.
func eachRow(b backend.Backend, n, length int, work func(i int, dst []float64)) []float64 {
	values := backend.Pieces(b, (n+rowsPerPiece-1)/rowsPerPiece, rowsPerPiece*length, func(piece int, dst []float64) {
		first := piece * rowsPerPiece
		for i := first; i < min(n, first+rowsPerPiece); i++ {
			work(i, dst[(i-first)*length:][:length])
		}
	})
	return values[:n*length]
}

// rowsPerPiece is the number of rows that one rank or thread computes at a time.
const rowsPerPiece = 1024

// meanPairs are predicted means of rows with actual values.
type meanPairs struct{ predicted, actual, weight []float64 }

func (p *meanPairs) add(predicted, actual, weight float64) {
	p.predicted, p.actual, p.weight = append(p.predicted, predicted), append(p.actual, actual), append(p.weight, weight)
}

func (p *meanPairs) append(o *meanPairs) {
	p.predicted, p.actual, p.weight = append(p.predicted, o.predicted...), append(p.actual, o.actual...), append(p.weight, o.weight...)
}

// curve returns the correction of means. The processes of a group, nil for one, have the same pairs.
func (p *meanPairs) curve(group peers.Group, threads int) *predictive.MeanCurve {
	return conformal.NewMeanCurve(group, threads, p.predicted, p.actual, p.weight)
}

// withoutMeans removes from a score of the fit what depends on the correction of
// means.
func withoutMeans(s *metrics.Score) {
	s.R2, s.RMSE, s.Bias, s.MeanError, s.BiasByDecile = math.NaN(), math.NaN(), math.NaN(), math.NaN(), nil
}
