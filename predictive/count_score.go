package predictive

import "math"

// An empirical score distribution of counts applies to S(y), the normal score of
// P(Y <= y). Beyond tailScore that probability carries little information: a count
// distribution that is too narrow gives many observed values a probability near 0,
// and 1 - 1e-17 rounds to 1. There S continues linearly in the square root of y, with
// the slope of its last unit:
//
//	S(y) = 4 + (h(y) - h(y4)) / (h(y4) - h(y3)),   h(y) = sqrt(y + 3/8),
//
// where S reaches 3 and 4 at y3 and y4, and likewise at -3 and -4. Conformal coverage
// holds for any increasing function; this one keeps the tails similar to those of the
// count distribution.
const tailScore = 4.0

func rootCount(y float64) float64 { return math.Sqrt(y + 0.375) }

// tail returns the count at tailScore on one side, sign 1 or -1, and the length in h
// of one unit of S there.
func (d Distribution) tail(g *countGrid, sign float64) (at, unit float64) {
	t := &g.tails[int(1+sign)/2]
	if t.unit == 0 {
		t.at = d.gridQuantile(g, normalCDF(sign*tailScore))
		inner := d.gridQuantile(g, normalCDF(sign*(tailScore-1)))
		t.unit = max(math.Abs(rootCount(t.at)-rootCount(inner)), rootCount(t.at+1)-rootCount(t.at))
	}
	return t.at, t.unit
}

// countScore returns S(y), which increases with y, from the probability
// P(Y <= y) of the mixture. It is -Inf below 0.
func (d Distribution) countScore(g *countGrid, y, mixture float64) float64 {
	if y < 0 {
		return math.Inf(-1)
	}
	t := normalQuantile(mixture)
	if math.Abs(t) < tailScore {
		return t
	}
	sign := math.Copysign(1, t)
	at, unit := d.tail(g, sign)
	return sign*tailScore + (rootCount(y)-rootCount(at))/unit
}

// randomScore returns the score of y: the normal score of the randomised PIT, or in
// the tails a random number between S(y-1) and S(y).
func (d Distribution) randomScore(g *countGrid, y, u float64) float64 {
	low, high := d.mixtureAt(g, y-1), d.mixtureAt(g, y)
	below, upTo := d.countScore(g, y-1, low), d.countScore(g, y, high)
	switch {
	case math.Abs(upTo) < tailScore && below > -tailScore || math.IsInf(below, -1) && upTo > -tailScore:
		return normalQuantile(low + u*(high-low))
	case math.IsInf(below, -1):
		return upTo
	}
	return below + u*(upTo-below)
}

// correctedCDF returns P(Y <= y) under the score distribution, from the same
// probability of the mixture.
func (d Distribution) correctedCDF(g *countGrid, y, mixture float64) float64 {
	if y < 0 {
		return 0
	}
	if d.scores.n == 0 {
		return mixture
	}
	return d.scores.CDF(d.countScore(g, y, mixture))
}

// countQuantile returns the quantile at level p.
func (d Distribution) countQuantile(g *countGrid, p float64) float64 {
	return d.countQuantileAt(g, p, d.scores.Quantile(p))
}

// countQuantileAt returns the quantile at level p, whose score is z: the smallest y
// with S(y) >= z.
func (d Distribution) countQuantileAt(g *countGrid, p, z float64) float64 {
	if d.scores.n == 0 {
		return d.gridQuantile(g, p)
	}
	if math.Abs(z) < tailScore {
		return d.gridQuantile(g, normalCDF(z))
	}
	sign := math.Copysign(1, z)
	at, unit := d.tail(g, sign)
	h := rootCount(at) + (z-sign*tailScore)*unit
	if h <= rootCount(0) {
		return 0
	}
	return math.Ceil(h*h - 0.375 - 1e-9*h*h)
}
