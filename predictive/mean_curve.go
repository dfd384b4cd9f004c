package predictive

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// A MeanCurve is a non-decreasing function that corrects the mean of a distribution:
// it maps the predicted mean to the mean that was observed for predictions of that
// size. It is linear between its knots. Beyond the first and the last knot it
// continues their factor, or their shift for a target that may be negative. It is
// immutable.
type MeanCurve struct {
	signed               bool
	predicted, corrected []float64
}

// NewMeanCurve returns the curve through knots, whose predicted means increase and
// whose corrected means do not decrease. A target that is not signed is never
// negative: then the first predicted mean is positive, and no corrected mean is
// negative.
func NewMeanCurve(signed bool, predicted, corrected []float64) (*MeanCurve, error) {
	if len(predicted) == 0 || len(predicted) != len(corrected) {
		return nil, fmt.Errorf("%d predicted and %d corrected means", len(predicted), len(corrected))
	}
	for i := range predicted {
		if math.IsNaN(predicted[i]-corrected[i]) || math.IsInf(predicted[i]-corrected[i], 0) {
			return nil, fmt.Errorf("the knot from %g to %g is not finite", predicted[i], corrected[i])
		}
		if i > 0 && (predicted[i] <= predicted[i-1] || corrected[i] < corrected[i-1]) {
			return nil, errors.New("the knots are not sorted")
		}
	}
	if !signed && (predicted[0] <= 0 || corrected[0] < 0) {
		return nil, fmt.Errorf("the first knot, from %g to %g, is negative", predicted[0], corrected[0])
	}
	return &MeanCurve{signed, slices.Clone(predicted), slices.Clone(corrected)}, nil
}

// At returns the corrected mean of a predicted one.
func (c *MeanCurve) At(mean float64) float64 {
	n := len(c.predicted)
	right := sort.SearchFloat64s(c.predicted, mean)
	if right > 0 && right < n {
		x0, x1 := c.predicted[right-1], c.predicted[right]
		y0, y1 := c.corrected[right-1], c.corrected[right]
		return y0 + (mean-x0)/(x1-x0)*(y1-y0)
	}
	end := min(right, n-1)
	if c.signed {
		return mean + (c.corrected[end] - c.predicted[end])
	}
	return max(mean, 0) * (c.corrected[end] / c.predicted[end])
}

// Signed reports whether the target may be negative.
func (c *MeanCurve) Signed() bool { return c.signed }

// Knots returns copies of the knots.
func (c *MeanCurve) Knots() (predicted, corrected []float64) {
	return slices.Clone(c.predicted), slices.Clone(c.corrected)
}

// WithMeanCurve returns the distribution with a corrected mean. Quantiles and
// the standard deviation stay as they are. Nil removes the correction.
func (d Distribution) WithMeanCurve(c *MeanCurve) Distribution {
	d.means = c
	return d
}

// UncorrectedMean returns the mean without the correction of a [MeanCurve].
func (d Distribution) UncorrectedMean() float64 {
	if d.count != nil {
		return d.countMean()
	}
	if d.finite != nil {
		return d.finite.mean
	}
	return d.gaussianMean()
}

// CorrectedMean returns Mean, given UncorrectedMean, which is expensive for counts.
func (d Distribution) CorrectedMean(mean float64) float64 {
	if d.means != nil {
		mean = d.means.At(mean)
	}
	if d.mixed.given {
		mean = d.mixed.share*mean + d.mixed.rest
	}
	return mean
}

// mostFactor bounds the factor of draws that are moved to another mean.
const mostFactor = 100

// DrawnMean returns the mean of draws, which have the score distribution and no correction of the mean.
func (d Distribution) DrawnMean() float64 {
	switch {
	case d.finite != nil:
		return d.finite.mean
	case d.count != nil && d.scores.normal():
		return d.countMean()
	case d.count != nil:
		var g countGrid
		d.fillGrid(&g)
		mean, _ := d.gridMoments(&g)
		return mean
	}
	var value [nodeCount]float64
	d.nodeValues(&value)
	sum := 0.0
	for i, v := range &value {
		sum += nodeWeight[i] * v
	}
	return sum / nodeTotal
}

// A DrawMove moves draws of a distribution so that their mean is a given one: values that cannot be negative by a
// factor, which leaves them so, others by a shift.
type DrawMove struct {
	factor, shift float64
	count         bool
}

// MoveOfDraws returns the move of draws of the distribution to a mean. Draws that may be one of few values stay.
func (d Distribution) MoveOfDraws(mean float64) DrawMove {
	move, drawn := DrawMove{factor: 1, count: d.count != nil}, d.DrawnMean()
	switch {
	case d.finite != nil || math.IsNaN(mean-drawn) || math.IsInf(mean-drawn, 0):
	case (move.count || d.lowerBound() == 0) && drawn > 0:
		move.factor = max(min(mean/drawn, mostFactor), 0)
	default:
		move.shift = mean - drawn
	}
	return move
}

// Apply returns the moved value of a draw. Counts become counts, up or down by a random number that depends on the seed and
// on the index of the draw.
func (m DrawMove) Apply(v float64, seed, index uint64) float64 {
	v = v*m.factor + m.shift
	if m.count && m.factor != 1 {
		v = max(math.Floor(v+uniform(seed, index)), 0)
	}
	return v
}

// Undo returns the draw of which Apply makes v, about for counts, whatever it is if the factor is 0.
func (m DrawMove) Undo(v float64) float64 {
	switch {
	case m.factor == 0:
		return v
	case m.count:
		return math.Round(v / m.factor)
	}
	return (v - m.shift) / m.factor
}

// mixedMean replaces a mean by share times it plus rest.
type mixedMean struct {
	share, rest float64
	given       bool
}

// MixMean replaces the mean, after the correction of a [MeanCurve], by share times it plus
// rest, until the distribution moves. Quantiles and the standard deviation stay as
// they are.
func (d *Distribution) MixMean(share, rest float64) { d.mixed = mixedMean{share, rest, true} }
