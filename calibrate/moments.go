package calibrate

import "math"

// Mean returns the mean. With the normal law it is in closed form,
//
//	identity m,   log1p exp(m + v/2) - 1,   sqrt E max(g, 0)^2,   cbrt1p E max(g, 0)^3 - 1,
//
// the last two being m^2 + v and m^3 + 3 m v - 1 unless m/s is small. A layer
// leaves it as it is: the mean under a layer's law rests on its few most extreme
// scores, and predicted worse on data it had not seen.
func (p Predictive) Mean() float64 {
	if p.count != nil {
		mean, _, _ := p.countMoments()
		return mean
	}
	return meanOf(p.transform, p.m, p.sd*p.sd)
}

func meanOf(t Transform, m, v float64) float64 {
	switch t {
	case Log1p:
		return math.Expm1(m + v/2)
	case Sqrt:
		second, _ := rectified(m, v, 2)
		return second
	case Cbrt1p:
		third, _ := rectified(m, v, 3)
		return third - 1
	}
	return m
}

// rectified returns E[max(g,0)^power] and E[max(g,0)^(2 power)] of g ~ N(m, v), by
// E[g^k; g>0] = m E[g^(k-1); g>0] + (k-1) v E[g^(k-2); g>0].
func rectified(m, v float64, power int) (once, twice float64) {
	s := math.Sqrt(v)
	if s == 0 {
		once = math.Pow(max(m, 0), float64(power))
		return once, once * once
	}
	before := normalCDF(m / s)
	moment := m*before + s*normalDensity(m/s)
	for k := 2; k <= 2*power; k++ {
		before, moment = moment, m*moment+float64(k-1)*v*before
		if k == power {
			once = max(moment, 0)
		}
	}
	return once, max(moment, 0)
}

// SD returns the standard deviation.
func (p Predictive) SD() float64 { return p.Moments().SD }

// SDModel returns the part of the model: the standard deviation of E[y|f].
func (p Predictive) SDModel() float64 { return p.Moments().SDModel }

// SDNoise returns the part of the noise: the root of the mean of Var[y|f]. The
// squares of SDModel and SDNoise add up to that of SD.
func (p Predictive) SDNoise() float64 { return p.Moments().SDNoise }

// Moments are what the methods of the same names return.
type Moments struct{ Mean, SD, SDModel, SDNoise float64 }

// Moments returns them all, at the cost of one. A layer says how far the total
// variance was off, not whose fault that was: both parts take the same factor.
func (p Predictive) Moments() Moments {
	var mean, model, noise float64 // and Var(E[y|f]), E[Var(y|f)]
	if p.count != nil {
		mean, model, noise = p.countMoments()
	} else {
		mean = meanOf(p.transform, p.m, p.sd*p.sd)
		model, noise = p.gaussianVariances()
	}
	if p.law.n > 0 && model+noise > 0 {
		factor := p.layerVariance() / (model + noise)
		model, noise = model*factor, noise*factor
	}
	return Moments{mean, math.Sqrt(model + noise), math.Sqrt(model), math.Sqrt(noise)}
}

func (p Predictive) gaussianVariances() (model, noise float64) {
	switch p.transform {
	case Log1p:
		level := math.Exp(2*p.m + p.model + p.noise)
		return level * math.Expm1(p.model), level * math.Exp(p.model) * math.Expm1(p.noise)
	case Sqrt:
		return p.rootVariances(2)
	case Cbrt1p:
		return p.rootVariances(3)
	}
	return p.model, p.noise
}

// rootVariances is gaussianVariances of y = max(g, 0)^power up to a constant.
func (p Predictive) rootVariances(power int) (model, noise float64) {
	var total float64
	if p.m > 7*p.sd { // nothing is cut off
		total = powerVariance(p.m, p.model+p.noise, 0, power)
		model = powerVariance(p.m, p.model, p.noise, power)
	} else {
		mean, second := rectified(p.m, p.model+p.noise, power)
		total = max(second-mean*mean, 0)
		s := math.Sqrt(p.model)
		for i, t := range nodeT {
			once, _ := rectified(p.m+s*t, p.noise, power)
			model += nodeWeight[i] * (once - mean) * (once - mean)
		}
	}
	if model = min(model, total); p.noise == 0 {
		model = total
	}
	return model, total - model
}

// powerVariance returns the variance of E[(f + e)^power | f] for f ~ N(m, v) and
// e ~ N(0, noise): of f^2, and of f^3 + 3 f noise, whose Hermite terms add up.
func powerVariance(m, v, noise float64, power int) float64 {
	if power == 2 {
		return 2 * v * (2*m*m + v)
	}
	slope := 3 * (m*m + v + noise)
	return v * (slope*slope + 6*v*(3*m*m+v))
}

// layerVariance returns the variance under a layer's law.
func (p Predictive) layerVariance() float64 {
	if p.count != nil {
		_, variance := p.gridMoments()
		return variance
	}
	// Around the median, so that the difference of squares does not cancel.
	centre := p.fromScore(p.law.nodes[nodeCount/2])
	var value [nodeCount]float64
	p.nodeValues(&value)
	var first, second, total float64
	for i, v := range &value {
		d := v - centre
		w := nodeWeight[i]
		total += w
		first += w * d
		second += w * d * d
	}
	first /= total
	return max(second/total-first*first, 0)
}
