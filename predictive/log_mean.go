package predictive

import "math"

// MeanLog1p returns E[log(1 + max(y, 0))] under the score distribution: the prediction
// with the least expected squared error of log(1 + y). It is neither log(1 + Mean) nor
// log(1 + Median). Like the mean it does not depend on heaped values, and not on a
// [MeanCurve].
func (d Distribution) MeanLog1p() float64 {
	switch {
	case d.count != nil:
		return d.countMeanLog1p()
	case d.finite != nil:
		sum, below := 0.0, 0.0
		for k, v := range d.finite.values {
			sum += (d.finite.level[k] - below) * log1pFrom0(v)
			below = d.finite.level[k]
		}
		return sum
	}
	var value [nodeCount]float64
	d.nodeValues(&value)
	sum := 0.0
	for i, v := range &value {
		sum += nodeWeight[i] * log1pFrom0(v)
	}
	return sum / nodeTotal
}

func log1pFrom0(y float64) float64 { return math.Log1p(max(y, 0)) }

// countMeanLog1p returns the sum over counts x of (1 - F(x)) (log(2 + x) - log(1 + x)).
func (d Distribution) countMeanLog1p() float64 {
	var g countGrid
	d.fillGrid(&g)
	sum := 0.0
	d.segments(&g, func(y, length, a, b float64) {
		level := a + (b-a)*(length-1)/(2*length) // mean over the counts of the run
		sum += (1 - level) * (math.Log1p(y+length) - math.Log1p(y))
	})
	return sum
}
