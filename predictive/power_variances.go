package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// powerMean returns E[g^-1(x)] for x ~ N(m, v), by the trapezoid rule unless P is 0 or 1.
func powerMean(t targetscale.Transform, m, v float64) float64 {
	power, unit, s := t.Exponent(), t.Unit(), math.Sqrt(v)
	switch {
	case power == 1:
		return m * unit
	case s == 0:
		return t.Inverse(m)
	case power == 0:
		// E[e^x - 1; x > 0] - E[e^-x - 1; x < 0]
		return unit * (expectedExcess(m, s) - expectedExcess(-m, s))
	}
	// Where the integrand is smooth a wide step is exact. Its second derivative jumps at
	// x = 0, which costs accuracy that the first term of the error returns.
	stride := 2
	if math.Abs(m) > nodeLast*s {
		stride = 4
	}
	sum, root := 0.0, 1/power
	for i := 0; i < nodeCount; i += stride {
		g := m + s*nodeT[i]
		y := (math.Exp(root*math.Log(1+power*math.Abs(g))) - 1) * unit // as in PowerValues
		sum += nodeWeight[i] * math.Copysign(y, g)
	}
	sum *= float64(stride)
	if at := -m / s; math.Abs(at) < nodeLast {
		h := nodeStep * float64(stride)
		x := (at + nodeLast) / h
		share := x - math.Floor(x)
		jump := 2 * unit * (1 - power) * v * normalDensity(at)
		sum -= jump * h * h * h / 6 * share * (share - 0.5) * (share - 1)
	}
	return sum
}

// expectedExcess returns E[e^x - 1; x > 0] for x ~ N(m, s^2).
func expectedExcess(m, s float64) float64 {
	return math.Exp(m+s*s/2)*normalCDF(m/s+s) - normalCDF(m/s)
}

// powerVariances is gaussianVariances for powers. With x = m + s t and the Hermite
// coefficients c_k of y as a function of t, Var y is the sum of c_k^2 over k > 0, and
// Var E[y|f] that of rho^k c_k^2, where rho is the share of f in the variance of x.
func (d *Distribution) powerVariances() (model, noise float64) {
	if d.transform.Exponent() == 1 && !d.cuts() {
		unit := d.transform.Unit()
		return d.model * unit * unit, d.noise * unit * unit
	}
	var value [nodeCount]float64
	d.transform.PowerValues(value[:], nodeT[:], d.m, d.sd)
	if d.clamped {
		clamp(&value)
	}
	var c [hermiteTerms]float64
	second := 0.0
	add := func(t, weighted float64) { // the term of a node in every coefficient
		before, now := 0.0, 1.0 // He_(k-1) and He_k over the root of k!
		for k := range c {
			c[k] += weighted * now
			root := math.Sqrt(float64(k + 1))
			before, now = now, (t*now-math.Sqrt(float64(k))*before)/root
		}
	}
	for i, y := range &value {
		add(nodeT[i], nodeWeight[i]*y)
		second += nodeWeight[i] * y * y
	}
	if bound := d.boundScore(); d.clamped && math.Abs(bound) < nodeLast {
		add(bound, -d.kinkWeight(bound)*d.transform.Unit()*d.sd*normalDensity(bound))
	}
	total := max(second-c[0]*c[0], 0)
	if d.noise == 0 {
		return total, 0
	}
	rho, share := d.model/(d.model+d.noise), 1.0
	rest := total
	for _, ck := range c[1:] {
		share *= rho
		model += share * ck * ck
		rest -= ck * ck
	}
	model = min(model+share*rho*max(rest, 0), total)
	return model, total - model
}

// kinkWeight returns the error of the trapezoid rule for an integrand whose slope jumps by
// 1 at t.
func (d *Distribution) kinkWeight(t float64) float64 {
	x := (t + nodeLast) / nodeStep
	share := x - math.Floor(x)
	return nodeStep * nodeStep * (share*(1-share)/2 - 1.0/12)
}
