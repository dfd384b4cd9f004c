package calibrate

import "math"

// Mean returns the mean. With the normal law it is in closed form,
//
//	identity m,   log1p exp(m + v/2) - 1,   sqrt (m^2 + v) Phi(m/s) + m s phi(m/s),
//
// the last being the mean of max(g, 0)^2, and m^2 + v unless m/s is small. A layer
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
		second, _ := rectified(m, v)
		return second
	}
	return m
}

// rectified returns E[max(g,0)^2] and E[max(g,0)^4] of g ~ N(m, v), by
// E[g^k; g>0] = m E[g^(k-1); g>0] + (k-1) v E[g^(k-2); g>0].
func rectified(m, v float64) (second, fourth float64) {
	s := math.Sqrt(v)
	if s == 0 {
		m = max(m, 0)
		return m * m, m * m * m * m
	}
	i0 := normalCDF(m / s)
	i1 := m*i0 + s*normalDensity(m/s)
	i2 := m*i1 + v*i0
	i3 := m*i2 + 2*v*i1
	return max(i2, 0), max(m*i3+3*v*i2, 0)
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
		mean, fourth := rectified(p.m, p.model+p.noise)
		total := max(fourth-mean*mean, 0)
		s := math.Sqrt(p.model)
		if p.m > 7*p.sd { // nothing is cut off: E[y|f] = f^2 + noise
			model = 2 * p.model * (2*p.m*p.m + p.model)
		} else {
			for i, t := range nodeT {
				d := meanOf(Sqrt, p.m+s*t, p.noise) - mean
				model += nodeWeight[i] * d * d
			}
		}
		model = min(model, total)
		return model, total - model
	}
	return p.model, p.noise
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
