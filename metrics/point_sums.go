package metrics

import "math"

// PointSums accumulates the sums of a [Score], one observation at a time. The zero
// value is ready to use.
type PointSums struct {
	n                 int
	weight            float64
	squares, absolute float64 // errors of the mean, squared, and of the median
	scaleSquares      float64
	predicted, actual float64 // totals
	negative          bool    // some y is negative
	y, scaled         runningVariance
}

// runningVariance is a weighted mean and the sum of squared deviations from it.
type runningVariance struct{ weight, mean, squares float64 }

func (r *runningVariance) add(v, w float64) {
	if w == 0 {
		return
	}
	r.weight += w
	d := v - r.mean
	r.mean += d * w / r.weight
	r.squares += w * d * (v - r.mean)
}

func (r *runningVariance) merge(o runningVariance) {
	if o.weight == 0 {
		return
	}
	total := r.weight + o.weight
	d := o.mean - r.mean
	r.squares += o.squares + d*d*r.weight*o.weight/total
	r.mean += d * o.weight / total
	r.weight = total
}

// Add adds an observation y of weight w with its predicted mean and median, and the
// target and the prediction on the modelling scale.
func (s *PointSums) Add(y, w, mean, median, onScale, predictedOnScale float64) {
	s.n++
	s.weight += w
	s.squares += w * (y - mean) * (y - mean)
	s.absolute += w * math.Abs(y-median)
	s.y.add(y, w)
	s.predicted += w * mean
	s.actual += w * y
	s.negative = s.negative || y < 0
	d := onScale - predictedOnScale
	s.scaleSquares += w * d * d
	s.scaled.add(onScale, w)
}

// Merge adds the sums of other observations.
func (s *PointSums) Merge(o *PointSums) {
	s.n += o.n
	s.weight += o.weight
	s.squares += o.squares
	s.absolute += o.absolute
	s.scaleSquares += o.scaleSquares
	s.y.merge(o.y)
	s.predicted += o.predicted
	s.actual += o.actual
	s.negative = s.negative || o.negative
	s.scaled.merge(o.scaled)
}

// Score returns the measures, without calibration and without the bias by decile.
func (s *PointSums) Score() Score {
	return Score{
		N:         s.n,
		R2:        rSquared(s.squares, s.y.squares),
		RMSE:      math.Sqrt(s.squares / s.weight),
		MAE:       s.absolute / s.weight,
		R2Scale:   rSquared(s.scaleSquares, s.scaled.squares),
		Bias:      ratio(s.predicted, s.actual, s.negative),
		MeanError: (s.predicted - s.actual) / s.weight,
	}
}

func rSquared(residual, total float64) float64 {
	if !(total > 0) {
		return math.NaN()
	}
	return 1 - residual/total
}
