package predictive

// SummaryLevels are the levels of the quantiles in an [Evaluation].
var SummaryLevels = [5]float64{.05, .25, .5, .75, .95}

// An Evaluation compares a distribution with one observed value.
type Evaluation struct {
	Quantiles   [len(SummaryLevels)]float64 // at SummaryLevels
	Below, UpTo float64                     // P(Y < y) and P(Y <= y)
	Limits      [2]float64                  // of [Distribution.IntervalLimits]
	Heaped      bool                        // the value is a heaped integer
	CRPS        float64
	LogDensity  float64
}

// Evaluate compares the distribution with the observation y. For counts it shares
// the grid between quantiles, probabilities and CRPS, which is faster than calling
// the methods one by one. It does not allocate.
func (d Distribution) Evaluate(y float64) Evaluation {
	var e Evaluation
	if d.count != nil {
		var g countGrid
		d.fillGrid(&g)
		for i, p := range SummaryLevels {
			e.Quantiles[i] = d.countQuantileAt(&g, p, d.scores.summary[i])
		}
		e.Below, e.UpTo = d.gridCDFLimits(&g, y)
		e.CRPS = d.gridCRPS(&g, y)
	} else {
		for i, z := range &d.scores.summary {
			switch {
			case d.finite != nil:
				e.Quantiles[i] = d.finite.quantile(SummaryLevels[i])
			case d.heap != nil:
				e.Quantiles[i] = d.heapQuantile(SummaryLevels[i])
			default:
				e.Quantiles[i] = d.fromScore(z)
			}
		}
		e.Below, e.UpTo = d.CDFLimits(y)
		e.CRPS = d.CRPS(y)
	}
	e.LogDensity = d.LogDensity(y)
	e.Limits = [2]float64{e.Below, e.UpTo}
	if e.Heaped = d.heap != nil; e.Heaped {
		e.Limits[0], e.Limits[1] = HeapedLimits(e.Below, e.UpTo, d.heap.Border)
	}
	return e
}

// PIT returns the probability integral transform of the observation; see
// [Distribution.PIT].
func (e Evaluation) PIT(seed, index uint64) float64 {
	return randomizedPIT(e.Below, e.UpTo, seed, index)
}
