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

// WithMeanCurve returns the distribution with a corrected mean. Quantiles, draws and
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

// Unmixed returns the distribution without [Distribution.MixMean].
func (d Distribution) Unmixed() Distribution {
	d.mixed = mixedMean{}
	return d
}

// mostFactor bounds the factor of draws whose mean is mixed.
const mostFactor = 100

// MoveDraws moves draws of the distribution as [Distribution.MixMean] moves its mean: values
// that cannot be negative by a factor, which leaves them so, others by the difference.
func (d Distribution) MoveDraws(draws []float64) {
	if !d.mixed.given {
		return
	}
	uncorrected := d.UncorrectedMean()
	plain, mean := d.Unmixed().CorrectedMean(uncorrected), d.CorrectedMean(uncorrected)
	positive := d.count != nil || d.clamped && !d.transform.Linear()
	for k, v := range draws {
		switch {
		case !positive || !(plain > 0):
			v += mean - plain
		case d.count != nil:
			v = math.Round(v * max(min(mean/plain, mostFactor), 0))
		default:
			v *= max(min(mean/plain, mostFactor), 0)
		}
		draws[k] = v
	}
}

// mixedMean replaces a mean by share times it plus rest.
type mixedMean struct {
	share, rest float64
	given       bool
}

// MixMean replaces the mean, after the correction of a [MeanCurve], by share times it plus
// rest, until the distribution moves. Quantiles, draws and the standard deviation stay as
// they are.
func (d *Distribution) MixMean(share, rest float64) { d.mixed = mixedMean{share, rest, true} }
