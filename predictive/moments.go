package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Mean returns the mean. It has the closed form
//
//	identity m,   log1p exp(m + v/2) - 1,   sqrt E max(g, 0)^2,   cbrt1p E max(g, 0)^3 - 1,
//
// and for powers it is an integral. Those of the roots are m^2 + v and m^3 + 3 m v - 1 unless m/s
// is small. An empirical score distribution does not change the mean: a mean under that
// distribution would depend on its few most extreme scores, and was less accurate on unseen data. A
// [MeanCurve] does.
func (d Distribution) Mean() float64 { return d.CorrectedMean(d.UncorrectedMean()) }

// gaussianMean returns the mean under normal scores, at least 0 for a non-negative
// distribution. It is not E max(y, 0): moving the probability below 0 to 0 would raise
// the mean of every small value by the noise, and was less accurate on unseen data.
func (d *Distribution) gaussianMean() float64 {
	if d.transform.Kind() == targetscale.KindPower {
		if s := d.polynomial(); s != nil {
			mean, _, _ := d.polynomialMoments(s)
			return mean
		}
		var e powerExpansion
		if d.expandPower(&e) {
			return e.mean(d) * d.transform.Unit()
		}
	}
	mean := gaussianMean(d.transform, d.m, d.sd*d.sd)
	if d.clamped {
		mean = max(mean, 0)
	}
	return mean
}

// gaussianMean returns E[g^-1(x)] for x ~ N(m, v).
func gaussianMean(t targetscale.Transform, m, v float64) float64 {
	switch t.Kind() {
	case targetscale.KindLog1p:
		return math.Expm1(m + v/2)
	case targetscale.KindSqrt:
		second, _ := rectifiedMoments(m, v, 2)
		return second
	case targetscale.KindCbrt1p:
		third, _ := rectifiedMoments(m, v, 3)
		return third - 1
	case targetscale.KindPower:
		return powerMean(t, m, v)
	}
	return m
}

// rectifiedMoments returns E[max(g,0)^power] and E[max(g,0)^(2 power)] for
// g ~ N(m, v), by E[g^k; g>0] = m E[g^(k-1); g>0] + (k-1) v E[g^(k-2); g>0].
func rectifiedMoments(m, v float64, power int) (first, second float64) {
	s := math.Sqrt(v)
	if s == 0 {
		first = math.Pow(max(m, 0), float64(power))
		return first, first * first
	}
	before, density := normal(m / s)
	moment := m*before + s*density
	for k := 2; k <= 2*power; k++ {
		before, moment = moment, m*moment+float64(k-1)*v*before
		if k == power {
			first = max(moment, 0)
		}
	}
	return first, max(moment, 0)
}

// SD returns the standard deviation.
func (d Distribution) SD() float64 { return d.Moments().SD }

// Moments are the mean and the standard deviation of a distribution. The standard
// deviation has two parts, with SD^2 = SDModel^2 + SDNoise^2: SDModel is the
// standard deviation of E[y|f], and SDNoise is the root of E[Var(y|f)].
type Moments struct{ Mean, SD, SDModel, SDNoise float64 }

// Moments returns the moments. An empirical score distribution determines the total
// variance but not its parts, so both parts are multiplied by the same factor.
func (d Distribution) Moments() Moments {
	var mean, model, noise, centre float64 // model is Var(E[y|f]), noise is E[Var(y|f)]
	switch {
	case d.count != nil:
		mean, model, noise = d.countMoments()
	case d.finite != nil:
		mean, model, noise = d.finite.mean, d.finite.model, d.finite.noise
	default:
		mean, model, noise, centre = d.gaussianMoments()
	}
	if !d.scores.normal() && model+noise > 0 {
		factor := d.empiricalVariance(centre) / (model + noise)
		model, noise = model*factor, noise*factor
	}
	return d.moments(mean, model, noise)
}

// moments returns the moments, given the mean without its correction and the parts of the
// variance.
func (d *Distribution) moments(mean, model, noise float64) Moments {
	return Moments{d.CorrectedMean(mean), math.Sqrt(model + noise), math.Sqrt(model), math.Sqrt(noise)}
}

// MomentsAndQuantiles returns Moments and writes the quantiles at levels, which for counts
// takes half the time of both.
func (d Distribution) MomentsAndQuantiles(dst []float64, l *Levels) Moments {
	if d.count == nil {
		d.QuantilesAt(dst, l)
		return d.Moments()
	}
	var g countGrid
	d.fillGrid(&g)
	for i, z := range l.at(d.scores) {
		dst[i] = d.countQuantileAt(&g, l.p[i], z)
	}
	mean, model, noise := d.countMoments()
	if !d.scores.normal() && model+noise > 0 {
		_, variance := d.gridMoments(&g)
		factor := variance / (model + noise)
		model, noise = model*factor, noise*factor
	}
	return d.moments(mean, model, noise)
}

// gaussianMoments returns gaussianMean, and Var(E[y|f]) and E[Var(y|f)] under normal scores, and
// T(m) of powerExpansion, 0 if it was not needed.
func (d *Distribution) gaussianMoments() (mean, model, noise, centre float64) {
	if s := d.polynomial(); s != nil {
		mean, model, noise = d.polynomialMoments(s)
		return mean, model, noise, 0
	}
	if kind := d.transform.Kind(); kind == targetscale.KindPower || kind == targetscale.KindLog1p && d.cuts() {
		var e powerExpansion
		if d.expandPower(&e) {
			model, noise = e.variances(d)
			if kind == targetscale.KindLog1p {
				return d.gaussianMean(), model, noise, e.centre
			}
			unit := d.transform.Unit()
			return e.mean(d) * unit, model * unit * unit, noise * unit * unit, e.centre
		}
	}
	model, noise = d.gaussianVariances()
	return d.gaussianMean(), model, noise, 0
}

// gaussianVariances returns Var(E[y|f]) and E[Var(y|f)] under normal scores, without expandPower.
func (d *Distribution) gaussianVariances() (model, noise float64) {
	if d.transform.Kind() == targetscale.KindPower {
		return d.powerVariances()
	}
	if d.cuts() {
		return d.clampedVariances()
	}
	switch d.transform.Kind() {
	case targetscale.KindLog1p:
		level := math.Exp(2*d.m + d.model + d.noise)
		return level * math.Expm1(d.model), level * math.Exp(d.model) * math.Expm1(d.noise)
	case targetscale.KindSqrt:
		return d.rootVariances(2)
	case targetscale.KindCbrt1p:
		return d.rootVariances(3)
	}
	return d.model, d.noise
}

// rootVariances is gaussianVariances for y = max(g, 0)^power + constant.
func (d *Distribution) rootVariances(power int) (model, noise float64) {
	var total float64
	if d.m > 7*d.sd { // P(g < 0) is negligible
		total = powerVariance(d.m, d.model+d.noise, 0, power)
		model = powerVariance(d.m, d.model, d.noise, power)
	} else {
		mean, second := rectifiedMoments(d.m, d.model+d.noise, power)
		total = max(second-mean*mean, 0)
		if variance := d.model + d.noise; d.model <= maxSeries*variance && variance > 0 {
			z := d.m / math.Sqrt(variance) // the bound of both roots is 0
			above, density := normal(z)
			model = d.rectified().smoothVariance(d.m, d.model, variance, above, density)
		} else {
			s := math.Sqrt(d.model)
			for i, t := range nodeT {
				given, _ := rectifiedMoments(d.m+s*t, d.noise, power)
				model += nodeWeight[i] * (given - mean) * (given - mean)
			}
		}
	}
	if model = min(model, total); d.noise == 0 {
		model = total
	}
	return model, total - model
}

// powerVariance returns the variance of E[(f + e)^power | f] for f ~ N(m, v) and
// e ~ N(0, noise), with power 2 or 3: the variance of f^2, or of f^3 + 3 f noise,
// as the sum over its Hermite terms.
func powerVariance(m, v, noise float64, power int) float64 {
	if power == 2 {
		return 2 * v * (2*m*m + v)
	}
	slope := 3 * (m*m + v + noise)
	return v * (slope*slope + 6*v*(3*m*m+v))
}

// empiricalVariance returns the variance under the score distribution. It uses T(m) of
// powerExpansion, unless that is 0.
func (d *Distribution) empiricalVariance(centre float64) float64 {
	if d.count != nil {
		var g countGrid
		d.fillGrid(&g)
		_, variance := d.gridMoments(&g)
		return variance
	}
	if root := rootOf(d.transform); root > 0 {
		return d.rootVariance(root)
	}
	if d.transform.Kind() == targetscale.KindPower || d.transform.Kind() == targetscale.KindLog1p {
		if variance, ok := d.scoreVariance(centre); ok {
			return variance
		}
	}
	// Centring at the median avoids cancellation in the difference of squares.
	centre = d.fromScore(d.scores.nodes[nodeCount/2])
	var value [nodeCount]float64
	d.nodeValues(&value)
	var first, second float64
	for i, v := range &value {
		deviation := v - centre
		w := nodeWeight[i]
		first += w * deviation
		second += w * deviation * deviation
	}
	first /= nodeTotal
	return max(second/nodeTotal-first*first, 0)
}
