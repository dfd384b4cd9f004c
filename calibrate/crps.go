package calibrate

import "math"

// CRPS returns the continuous ranked probability score of an observation,
//
//	int (F(x) - 1{y <= x})^2 dx  =  2 int (1{y < Q(p)} - p) (Q(p) - y) dp,
//
// smaller is better, in the user's units; for a point forecast it is the
// absolute error. The normal law has closed forms on the identity and log1p
// scales; counts are summed; everything else is the integral over p = Phi(t) on
// the law's nodes, with the kink at y corrected.
func (p Predictive) CRPS(y float64) float64 {
	if p.count != nil {
		var g countGrid
		p.fillGrid(&g)
		return p.gridCRPS(&g, y)
	}
	z := (p.transform.Forward(y) - p.m) / p.sd
	if p.law.n == 0 {
		switch {
		case p.transform == Identity:
			return p.sd * (z*(2*normalCDF(z)-1) + 2*normalDensity(z) - 1/math.SqrtPi)
		case p.transform == Log1p && z > math.Inf(-1):
			return (1+y)*(2*normalCDF(z)-1) -
				2*math.Exp(p.m+p.sd*p.sd/2)*(normalCDF(z-p.sd)-normalCDF(-p.sd*invSqrt2))
		}
	}
	return p.nodeCRPS(y, z)
}

func (p Predictive) nodeCRPS(y, z float64) float64 {
	var value [nodeCount]float64
	p.nodeValues(&value)
	sum := 0.0
	for i, node := range &p.law.nodes {
		side := -nodeP[i]
		if node > z {
			side = nodeP[nodeCount-1-i] // 1 - p, without cancellation
		}
		sum += nodeWeight[i] * side * (value[i] - y)
	}
	// At the level of y the integrand is continuous and its slope jumps by
	// 2 Q'(t) phi(t). A kink at the share s of a step of length h puts the
	// trapezoid rule off by jump h^2 (s(1-s)/2 - 1/12).
	t := z
	if p.law.n > 0 {
		t = normalQuantile((p.law.CDF(z) + p.law.below(z)) / 2)
	}
	if !(math.Abs(t) < nodeLast) {
		return 2 * sum
	}
	x := (t + nodeLast) / nodeStep
	share := x - math.Floor(x)
	jump := p.transform.inverseDerivative(p.m+p.sd*z) * p.sd * p.law.slopeAt(t) * normalDensity(t)
	return 2 * (sum - jump*nodeStep*nodeStep*(share*(1-share)/2-1.0/12))
}

// nodeValues writes the quantiles at the law's nodes. The switch stands outside
// the loop, and a node costs an exponential at most.
func (p Predictive) nodeValues(dst *[nodeCount]float64) {
	switch p.transform {
	case Log1p:
		for i, z := range &p.law.nodes {
			dst[i] = math.Exp(p.m+p.sd*z) - 1
		}
	case Sqrt:
		for i, z := range &p.law.nodes {
			g := max(p.m+p.sd*z, 0)
			dst[i] = g * g
		}
	case Cbrt1p:
		for i, z := range &p.law.nodes {
			g := max(p.m+p.sd*z, 0)
			dst[i] = g*g*g - 1
		}
	default:
		for i, z := range &p.law.nodes {
			dst[i] = p.m + p.sd*z
		}
	}
}

// Pinball returns the loss of q as a quantile at a level,
// (level - 1{y < q}) (y - q).
func Pinball(level, q, y float64) float64 {
	if y < q {
		return (1 - level) * (q - y)
	}
	return level * (y - q)
}

// Winkler returns the interval score of [low, high] as a central interval that
// misses with probability miss: its width, plus 2/miss times the distance by
// which it misses y.
func Winkler(miss, low, high, y float64) float64 {
	return high - low + 2/miss*(max(low-y, 0)+max(y-high, 0))
}
