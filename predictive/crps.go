package predictive

import "math"

// CRPS returns the continuous ranked probability score of the observation y,
//
//	int (F(x) - 1{y <= x})^2 dx  =  2 int (1{y < Q(p)} - p) (Q(p) - y) dp,
//
// in the units of the target. Smaller is better. For a point forecast it is the
// absolute error. Normal scores have closed forms on the identity and log1p scales.
// Counts are summed. All other cases integrate over p = Phi(t) at the quadrature
// nodes, with a correction for the kink at y.
func (d Distribution) CRPS(y float64) float64 {
	if d.count != nil {
		var g countGrid
		d.fillGrid(&g)
		return d.gridCRPS(&g, y)
	}
	z := (d.transform.Forward(y) - d.m) / d.sd
	if d.scores.n == 0 {
		switch {
		case d.transform == Identity:
			return d.sd * (z*(2*normalCDF(z)-1) + 2*normalDensity(z) - 1/math.SqrtPi)
		case d.transform == Log1p && z > math.Inf(-1):
			return (1+y)*(2*normalCDF(z)-1) -
				2*math.Exp(d.m+d.sd*d.sd/2)*(normalCDF(z-d.sd)-normalCDF(-d.sd*invSqrt2))
		}
	}
	return d.quadratureCRPS(y, z)
}

// quadratureCRPS returns the CRPS of y, whose score is z, as a sum over nodes.
func (d Distribution) quadratureCRPS(y, z float64) float64 {
	var value [nodeCount]float64
	d.nodeValues(&value)
	sum := 0.0
	for i, node := range &d.scores.nodes {
		side := -nodeP[i]
		if node > z {
			side = nodeP[nodeCount-1-i] // 1 - p, without cancellation
		}
		sum += nodeWeight[i] * side * (value[i] - y)
	}
	// At the level of y the integrand is continuous and its slope jumps by
	// 2 Q'(t) phi(t). With a kink at the fraction s of a step of length h the
	// error of the trapezoid rule is jump h^2 (s(1-s)/2 - 1/12).
	t := z
	if d.scores.n > 0 {
		t = normalQuantile((d.scores.CDF(z) + d.scores.cdfBelow(z)) / 2)
	}
	if !(math.Abs(t) < nodeLast) {
		return 2 * sum
	}
	x := (t + nodeLast) / nodeStep
	share := x - math.Floor(x)
	jump := d.transform.inverseDerivative(d.m+d.sd*z) * d.sd * d.scores.slopeAt(t) * normalDensity(t)
	return 2 * (sum - jump*nodeStep*nodeStep*(share*(1-share)/2-1.0/12))
}

// nodeValues writes the quantiles at the quadrature nodes. The switch is outside the
// loops for speed; a node costs at most one exponential.
func (d Distribution) nodeValues(dst *[nodeCount]float64) {
	switch d.transform {
	case Log1p:
		for i, z := range &d.scores.nodes {
			dst[i] = math.Exp(d.m+d.sd*z) - 1
		}
	case Sqrt:
		for i, z := range &d.scores.nodes {
			g := max(d.m+d.sd*z, 0)
			dst[i] = g * g
		}
	case Cbrt1p:
		for i, z := range &d.scores.nodes {
			g := max(d.m+d.sd*z, 0)
			dst[i] = g*g*g - 1
		}
	default:
		for i, z := range &d.scores.nodes {
			dst[i] = d.m + d.sd*z
		}
	}
}
