package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// NonNegative returns the distribution with support [0, inf): its probability below 0
// is moved to 0. Counts and the sqrt scale have that support anyway.
func (d Distribution) NonNegative() Distribution {
	d.clamped = !d.IsDiscrete() && d.transform != targetscale.Sqrt
	return d
}

// Unclamped returns the distribution without the effect of [Distribution.NonNegative].
func (d Distribution) Unclamped() Distribution {
	d.clamped = false
	return d
}

// lowerBound returns the smallest value, which has positive probability; -Inf if there
// is none.
func (d *Distribution) lowerBound() float64 {
	if d.clamped {
		return 0
	}
	return d.transform.LowerBound()
}

// boundLevel returns the lower bound on the modelling scale, -Inf if there is none.
func (d *Distribution) boundLevel() float64 {
	switch {
	case d.clamped && d.transform.Kind() == targetscale.KindCbrt1p:
		return 1
	case d.clamped, d.transform.Kind() == targetscale.KindSqrt, d.transform.Kind() == targetscale.KindCbrt1p:
		return 0
	}
	return d.transform.Forward(math.Inf(-1))
}

// boundScore returns the score of the lower bound.
func (d *Distribution) boundScore() float64 { return (d.boundLevel() - d.m) / d.sd }

// negligible is the score below which the probability of values under the bound does
// not matter to the moments and the CRPS: it is 1e-12 at -7.
const negligible = -7

// cuts reports whether the distribution is clamped and this makes a difference.
func (d *Distribution) cuts() bool { return d.clamped && d.boundScore() > negligible }

// clampedMoments returns E max(y, 0) and E max(y, 0)^2 for g(y) ~ N(m, v).
func clampedMoments(t targetscale.Transform, m, v float64) (first, second float64) {
	s := math.Sqrt(v)
	if s == 0 {
		first = max(t.Inverse(m), 0)
		return first, first * first
	}
	z := (t.Forward(0) - m) / s
	above, density := normal(-z)
	return clampedMomentsAt(t, m, v, above, density)
}

// clampedMomentsAt is clampedMoments, given the probability of y > 0 and the normal density
// at the score of 0.
func clampedMomentsAt(t targetscale.Transform, m, v, positive, density float64) (first, second float64) {
	s := math.Sqrt(v)
	switch t.Kind() {
	case targetscale.KindLog1p:
		// E[exp(k g); g > 0] = exp(k m + k^2 v/2) Phi(m/s + k s)
		one := math.Exp(m+v/2) * normalCDF(m/s+s)
		two := math.Exp(2*m+2*v) * normalCDF(m/s+2*s)
		return max(one-positive, 0), max(two-2*one+positive, 0)
	case targetscale.KindCbrt1p:
		above := momentsAbove(m, v, 1, positive, density)
		return max(above[3]-above[0], 0), max(above[6]-2*above[3]+above[0], 0)
	}
	above := momentsAbove(m, v, 0, positive, density)
	return max(above[1], 0), max(above[2], 0)
}

// momentsAbove returns E[g^k; g > a] for g ~ N(m, v) and k = 0, ..., 6, by
// E[g^k; g>a] = m E[g^(k-1); g>a] + (k-1) v E[g^(k-2); g>a] + s a^(k-1) phi((a-m)/s), given
// P(g > a) and phi((a-m)/s).
func momentsAbove(m, v, a, above, density float64) (moment [7]float64) {
	moment[0] = above
	edge := math.Sqrt(v) * density
	for k := 1; k < len(moment); k++ {
		moment[k] = m*moment[k-1] + edge
		if k > 1 {
			moment[k] += float64(k-1) * v * moment[k-2]
		}
		edge *= a
	}
	return moment
}

// clampedVariances returns Var(E[y|f]) and E[Var(y|f)] under normal scores.
func (d *Distribution) clampedVariances() (model, noise float64) {
	variance := d.model + d.noise
	var mean, second float64
	if r := d.rectified(); d.model <= maxSeries*variance && variance > 0 {
		z := (r.bound - d.m) / math.Sqrt(variance)
		above, density := normal(-z)
		mean, second = clampedMomentsAt(d.transform, d.m, variance, above, density)
		model = r.smoothVariance(d.m, d.model, variance, above, density)
	} else {
		mean, second = clampedMoments(d.transform, d.m, variance)
		s := math.Sqrt(d.model)
		for i, t := range nodeT {
			given, _ := clampedMoments(d.transform, d.m+s*t, d.noise)
			model += nodeWeight[i] * (given - mean) * (given - mean)
		}
	}
	total := max(second-mean*mean, 0)
	if model = min(model, total); d.noise == 0 {
		model = total
	}
	return model, total - model
}

// belowBound returns the integral of the squared CDF of N(0, 1) up to c: what clamping
// at c takes from the CRPS of values above it.
func belowBound(c float64) float64 {
	p := normalCDF(c)
	return max(c*p*p+2*normalDensity(c)*p-normalCDF(c*math.Sqrt2)/math.SqrtPi, 0)
}
