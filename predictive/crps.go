package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

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
	if d.finite != nil {
		return d.finite.crps(y)
	}
	if d.heap != nil {
		return d.heapCRPS(y)
	}
	if d.clamped && y < 0 {
		return d.CRPS(0) - y
	}
	z := (d.transform.Forward(y) - d.m) / d.sd
	if d.scores.normal() {
		switch {
		case d.transform == targetscale.Identity:
			score := z*(2*normalCDF(z)-1) + 2*normalDensity(z) - 1/math.SqrtPi
			if d.cuts() {
				score -= belowBound(d.boundScore())
			}
			return d.sd * score
		case d.transform == targetscale.Log1p && z > math.Inf(-1) && !d.cuts():
			return (1+y)*(2*normalCDF(z)-1) -
				2*math.Exp(d.m+d.sd*d.sd/2)*(normalCDF(z-d.sd)-normalCDF(-d.sd*invSqrt2))
		}
	}
	return d.quadratureCRPS(y, z)
}

// quadratureCRPS returns the CRPS of y, whose score is z, as a sum over nodes.
func (d *Distribution) quadratureCRPS(y, z float64) float64 {
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
	if !d.scores.normal() {
		t = normalQuantile((d.scores.CDF(z) + d.scores.cdfBelow(z)) / 2)
	}
	sum -= d.kink(z, t)
	if d.clamped {
		// Where the clamped quantiles begin to rise, the slope jumps by -2 p Q'(t) phi(t).
		bound := d.boundScore()
		level := normalCDF(bound)
		t := bound
		if !d.scores.normal() {
			level = (d.scores.CDF(bound) + d.scores.cdfBelow(bound)) / 2
			t = normalQuantile(level)
		}
		sum += level * d.kink(bound, t)
	}
	return 2 * sum
}

// kink returns the error of the trapezoid rule for an integrand whose slope jumps by
// Q'(t) phi(t) at t, the normal score of the level of z.
func (d *Distribution) kink(z, t float64) float64 {
	if !(math.Abs(t) < nodeLast) {
		return 0
	}
	x := (t + nodeLast) / nodeStep
	share := x - math.Floor(x)
	jump := d.transform.InverseDerivative(d.m+d.sd*z) * d.sd * d.scores.slopeAt(t) * normalDensity(t)
	return jump * nodeStep * nodeStep * (share*(1-share)/2 - 1.0/12)
}

// nodeValues writes the quantiles at the quadrature nodes. The switch is outside the
// loops for speed; a node costs at most one
// logarithm and one exponential.
func (d *Distribution) nodeValues(dst *[nodeCount]float64) {
	if d.clamped {
		defer clamp(dst)
	}
	switch d.transform.Kind() {
	case targetscale.KindLog1p:
		for i, z := range &d.scores.nodes {
			dst[i] = math.Exp(d.m+d.sd*z) - 1
		}
	case targetscale.KindSqrt:
		for i, z := range &d.scores.nodes {
			g := max(d.m+d.sd*z, 0)
			dst[i] = g * g
		}
	case targetscale.KindCbrt1p:
		for i, z := range &d.scores.nodes {
			g := max(d.m+d.sd*z, 0)
			dst[i] = g*g*g - 1
		}
	case targetscale.KindPower:
		d.transform.PowerValues(dst[:], d.scores.nodes[:], d.m, d.sd)
	default:
		for i, z := range &d.scores.nodes {
			dst[i] = d.m + d.sd*z
		}
	}
}

func clamp(values *[nodeCount]float64) {
	for i, v := range values {
		values[i] = max(v, 0)
	}
}
