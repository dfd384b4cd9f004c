package metrics

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive"
)

// A ForecastScore measures forecasts. An undefined measure is NaN; Pinball, Coverage90 and
// Width90 are undefined for forecasts without a distribution.
type ForecastScore struct {
	N    int    `json:"n"`
	MAE  Number `json:"mae"`  // of the medians
	RMSE Number `json:"rmse"` // of the means
	R2   Number `json:"r2"`   // of the means
	// R2Log1p is R2 of log(1 + y), of the predictions that have the least expected squared
	// error there: the mean of log(1 + y), or its logarithm for a forecast that is one
	// number. NaN with negative values.
	R2Log1p Number `json:"r2_log1p"`
	// WAPE is the sum of absolute errors of the medians divided by that of the values.
	WAPE Number `json:"wape"`
	Bias Number `json:"bias"` // ratio of the predicted to the actual total; NaN with negative values
	// MASE is the mean of absolute errors divided by the mean absolute change of their
	// series from one training row to the next, and RMSSE the root of the mean of squared
	// errors divided by the mean squared change. Rows of series with fewer than two
	// training rows, or without any change, do not count.
	MASE       Number `json:"mase"`
	RMSSE      Number `json:"rmsse"`
	Pinball    Number `json:"pinball"` // mean over the levels .05, .25, .5, .75 and .95
	Coverage90 Number `json:"coverage90"`
	Width90    Number `json:"width90"`
}

// ForecastSums accumulate the sums of a [ForecastScore], one observation at a time. The
// zero value is ready to use.
type ForecastSums struct {
	n                          int
	weight, absolute, squares  float64
	actual, size, predicted    float64
	negative                   bool
	scaled, scaledWeight       float64
	scaledSquares, squareCount float64
	judged, pinball, width     float64 // of forecasts with a distribution
	inside                     float64
	values, logs               spread // of the observations
	logSquares                 float64
}

// A spread is the weighted sum of squared deviations of values from their mean.
type spread struct{ weight, mean, squares float64 }

func (s *spread) merge(o spread) {
	if o.weight == 0 {
		return
	}
	d, total := o.mean-s.mean, s.weight+o.weight
	s.squares += o.squares + d*d*s.weight*o.weight/total
	s.mean += d * o.weight / total
	s.weight = total
}

// A Change is the mean absolute and the mean squared change of a series from one row to the
// next; 0 if it is unknown.
type Change struct{ Absolute, Squared float64 }

// Add adds an observation y of weight w with its predicted mean and median, and the
// predicted mean of log(1 + y).
func (s *ForecastSums) Add(y, w, mean, median, meanLog1p float64, c Change) {
	s.n++
	s.weight += w
	s.absolute += w * math.Abs(y-median)
	s.squares += w * (y - mean) * (y - mean)
	s.actual += w * y
	s.size += w * math.Abs(y)
	s.predicted += w * mean
	s.negative = s.negative || y < 0
	s.values.merge(spread{w, y, 0})
	log := math.Log1p(max(y, 0))
	s.logs.merge(spread{w, log, 0})
	s.logSquares += w * (log - meanLog1p) * (log - meanLog1p)
	if c.Absolute > 0 {
		s.scaled += w * math.Abs(y-median) / c.Absolute
		s.scaledWeight += w
	}
	if c.Squared > 0 {
		s.scaledSquares += w * (y - mean) * (y - mean) / c.Squared
		s.squareCount += w
	}
}

// AddDistribution adds the evaluation of the predictive distribution of an observation y of
// weight w.
func (s *ForecastSums) AddDistribution(y, w float64, e predictive.Evaluation) {
	s.judged += w
	for i, level := range predictive.SummaryLevels {
		s.pinball += w * pinball(level, e.Quantiles[i], y) / float64(len(predictive.SummaryLevels))
	}
	s.width += w * (e.Quantiles[len(e.Quantiles)-1] - e.Quantiles[0])
	if insideIntervals(e.Limits[0], e.Limits[1])[0] {
		s.inside += w
	}
}

// Merge adds the sums of other observations.
func (s *ForecastSums) Merge(o *ForecastSums) {
	s.n += o.n
	for _, pair := range []struct {
		to   *float64
		from float64
	}{
		{&s.weight, o.weight}, {&s.absolute, o.absolute}, {&s.squares, o.squares}, {&s.actual, o.actual}, {&s.size, o.size}, {&s.predicted, o.predicted},
		{&s.scaled, o.scaled}, {&s.scaledWeight, o.scaledWeight}, {&s.scaledSquares, o.scaledSquares}, {&s.squareCount, o.squareCount},
		{&s.judged, o.judged}, {&s.pinball, o.pinball}, {&s.width, o.width}, {&s.inside, o.inside}, {&s.logSquares, o.logSquares},
	} {
		*pair.to += pair.from
	}
	s.values.merge(o.values)
	s.logs.merge(o.logs)
	s.negative = s.negative || o.negative
}

// Score returns the measures.
func (s *ForecastSums) Score() ForecastScore {
	logs := math.NaN()
	if !s.negative {
		logs = rSquared(s.logSquares, s.logs.squares)
	}
	return ForecastScore{
		N: s.n, MAE: Number(s.absolute / s.weight), RMSE: Number(math.Sqrt(s.squares / s.weight)), R2: Number(rSquared(s.squares, s.values.squares)), R2Log1p: Number(logs),
		WAPE: Number(s.absolute / s.size), Bias: Number(ratio(s.predicted, s.actual, s.negative)),
		MASE: Number(s.scaled / s.scaledWeight), RMSSE: Number(math.Sqrt(s.scaledSquares / s.squareCount)),
		Pinball: Number(s.pinball / s.judged), Coverage90: Number(s.inside / s.judged), Width90: Number(s.width / s.judged),
	}
}
