package conformal

import "math"

// A training that has seen a surprise expects more of them: the sd that it predicts for forecasts is larger than that of a
// training that ends before. An error divided by the smaller sd must not be multiplied by the larger one, or the
// surprise counts twice.
const (
	// grownFrom is the factor of the sd from which a training counts as one that has seen a surprise. More rows
	// alone change less.
	grownFrom = 1.25

	// surprising is the 90 % quantile of the sizes of the scores of one origin from which they count as a surprise: twice
	// what the model expects. With smaller ones the model expects too little in general.
	surprising = 2 * usualSize

	// leastLater is the number of scores from which those of later rows say more than chance.
	leastLater = 1000
)

// usualSize is the 90 % quantile of the size of a normal score.
const usualSize = 1.645

// An Origin describes the forecasts from the last origin that a correction comes from.
type Origin struct {
	Spread     float64     // their mean sd
	Surprised  bool        // whether their errors are much larger than the model expects
	Correction *Correction // from the forecasts of this origin and perhaps others
	Later      *Correction // in place of it, for a training on later rows too; nil for none
}

// NewOrigin returns the origin of a correction that comes from its forecasts alone, given their mean sd.
func NewOrigin(c *Correction, spread float64) Origin {
	return Origin{Spread: spread, Surprised: c.size() > surprising, Correction: c}
}

// size returns half the width of the central 90 % of the scores, 1.645 if errors are as large as the model expects.
func (c *Correction) size() float64 {
	return (c.pool.Quantile((1+factorLevel)/2) - c.pool.Quantile((1-factorLevel)/2)) / 2
}

// Surprised reports whether the scores of one origin are much larger than the model expects.
func Surprised(scores []float64) bool { return sizeQuantile(scores) > surprising }

// sizeQuantile returns the 90 % quantile of the sizes of scores that are finite, 0 for none.
func sizeQuantile(scores []float64) float64 {
	var sizes []float64
	for _, z := range scores {
		if size := math.Abs(z); !math.IsNaN(size) && !math.IsInf(size, 0) {
			sizes = append(sizes, size)
		}
	}
	return quantileOf(sizes, factorLevel)
}

// Grown divides scores by how many times as large the sd is that a later training predicts for the same horizons, but does
// not make them smaller than the model expects. Only scores that are a surprise change.
func Grown(scores []float64, wider float64) {
	if !Surprised(scores) {
		return
	}
	factor := grown(sizeQuantile(scores), wider)
	for i := range scores {
		scores[i] *= factor
	}
}

// After returns the correction for a model that was trained again, on the rows of the forecasts too, and now predicts a mean
// sd for the same horizons. If they were a surprise that it has learned, intervals are as wide as errors were, unless the
// model alone makes them wider now. One of few forecasts ([NewBySize]) stays one.
func (o Origin) After(spread float64) *Correction {
	c := o.Correction
	factor := grown(c.size(), spread/o.Spread)
	if !o.Surprised || factor == 1 {
		return c
	}
	return c.times(factor)
}

// times returns the correction with wider intervals of forecasts.
func (c *Correction) times(factor float64) *Correction {
	factors := c.Factors()
	for h := range factors {
		factors[h] *= factor
	}
	return c.withFactors(factors)
}

// Again returns the correction for a model that was trained again, on the rows of the origin too, and whose forecasts of later
// rows have these scores, nil for the correction as it is. If it makes intervals narrower and these errors are a surprise for that,
// they are again as wide as errors are or as the model alone makes them, whichever is narrower. If it comes from a surprise that is
// over, they are at most twice as wide as the wider of the two: later surprises may differ from those of one period.
func (o Origin) Again(scores []float64) *Correction {
	size, later := o.Correction.size(), sizeQuantile(scores)
	switch {
	case len(scores) < leastLater:
		return nil
	case size < usualSize && later > 2*size:
		return o.Correction.times(min(later, usualSize) / size)
	case o.Surprised && size > 2*max(later, usualSize):
		return o.Correction.times(2 * max(later, usualSize) / size)
	}
	return nil
}

// grown returns the factor of scores, given the 90 % quantile of their sizes.
func grown(size, wider float64) float64 {
	if !(wider > grownFrom && size > usualSize) {
		return 1
	}
	return max(1/wider, usualSize/size)
}
