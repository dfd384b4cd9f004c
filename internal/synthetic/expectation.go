package synthetic

import "math"

// Mean returns the expected units of a row, the prediction with the smallest
// expected squared error.
func (t *Table) Mean(row int) float64 {
	return expect(t.Level[row], noiseSD, func(y float64) float64 { return y })
}

// LogMean returns the expected log1p of the units of a row, the best prediction on
// that scale.
func (t *Table) LogMean(row int) float64 { return expect(t.Level[row], noiseSD, math.Log1p) }

// Median returns the median of the units of a row.
func (t *Table) Median(row int) float64 { return math.Ceil(math.Exp(t.Level[row])) }

// expect returns E g(y) for y = ceil(x), where log x is normal around level, by parts:
//
//	E g(y) = g(1) + sum over k >= 1 of (g(k+1) - g(k)) P(x > k).
//
// The sum covers six standard deviations on both sides, below which the probability
// is 1. Above 32 it uses steps of k/16 with the probability at their middle. It has
// about a hundred terms.
func expect(level, sd float64, g func(float64) float64) float64 {
	above := func(k float64) float64 { return 0.5 * math.Erfc((math.Log(k)-level)/(sd*math.Sqrt2)) }
	k := max(1, math.Floor(math.Exp(level-6*sd)))
	end := math.Exp(level + 6*sd)
	total := g(k)
	for k <= end {
		step := max(1, math.Floor(k/16))
		total += (g(k+step) - g(k)) * above(k+(step-1)/2)
		k += step
	}
	return total
}
