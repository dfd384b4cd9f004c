package calibrate

import "math"

// A layer for counts works on S(y), the normal score of the probability of y or
// less. Beyond tailScore that probability says little: a count law that is too
// narrow calls many values impossible, and 1 - 1e-17 is 1. So S goes on there as a
// line in the square root of y, with the slope it had in the last step:
//
//	S(y) = 4 + (h(y) - h(y4)) / (h(y4) - h(y3)),   h(y) = sqrt(y + 3/8),
//
// y3 and y4 the counts where S passes 3 and 4, and the same at -3 and -4. Any
// function that rises would keep the layer's promise; this one keeps its tails
// like those of the law.
const tailScore = 4.0

func rootCount(y float64) float64 { return math.Sqrt(y + 0.375) }

// tail returns the count at tailScore on one side, sign 1 or -1, and the length
// in h of one unit of S there.
func (p Predictive) tail(g *countGrid, sign float64) (at, unit float64) {
	t := &g.tails[int(1+sign)/2]
	if t.unit == 0 {
		t.at = p.gridQuantile(g, normalCDF(sign*tailScore))
		inner := p.gridQuantile(g, normalCDF(sign*(tailScore-1)))
		t.unit = max(math.Abs(rootCount(t.at)-rootCount(inner)), rootCount(t.at+1)-rootCount(t.at))
	}
	return t.at, t.unit
}

// score returns S(y), which rises with y, from the mixture's probability of y or
// less; -Inf below 0.
func (p Predictive) score(g *countGrid, y, mixture float64) float64 {
	if y < 0 {
		return math.Inf(-1)
	}
	t := normalQuantile(mixture)
	if math.Abs(t) < tailScore {
		return t
	}
	sign := math.Copysign(1, t)
	at, unit := p.tail(g, sign)
	return sign*tailScore + (rootCount(y)-rootCount(at))/unit
}

// randomScore returns the score of y for a layer: the normal score of the
// randomised PIT, or between S(y-1) and S(y) in the tails.
func (p Predictive) randomScore(g *countGrid, y, u float64) float64 {
	low, high := p.mixtureAt(g, y-1), p.mixtureAt(g, y)
	below, upto := p.score(g, y-1, low), p.score(g, y, high)
	switch {
	case math.Abs(upto) < tailScore && below > -tailScore || math.IsInf(below, -1) && upto > -tailScore:
		return normalQuantile(low + u*(high-low))
	case math.IsInf(below, -1):
		return upto
	}
	return below + u*(upto-below)
}

// layered returns the probability of y or less under the layer's law, from that
// of the mixture.
func (p Predictive) layered(g *countGrid, y, mixture float64) float64 {
	if y < 0 {
		return 0
	}
	if p.law.n == 0 {
		return mixture
	}
	return p.law.CDF(p.score(g, y, mixture))
}

// countAt returns the quantile at level q.
func (p Predictive) countAt(g *countGrid, q float64) float64 { return p.countFrom(g, q, p.law.Z(q)) }

// countFrom returns the quantile at level q, whose score is z: the least y with
// S(y) >= z.
func (p Predictive) countFrom(g *countGrid, q, z float64) float64 {
	if p.law.n == 0 {
		return p.gridQuantile(g, q)
	}
	if math.Abs(z) < tailScore {
		return p.gridQuantile(g, normalCDF(z))
	}
	sign := math.Copysign(1, z)
	at, unit := p.tail(g, sign)
	h := rootCount(at) + (z-sign*tailScore)*unit
	if h <= rootCount(0) {
		return 0
	}
	return math.Ceil(h*h - 0.375 - 1e-9*h*h)
}
