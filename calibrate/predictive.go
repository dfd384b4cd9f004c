package calibrate

import (
	"math"
	"math/rand/v2"
)

// A Predictive is the distribution of one cell's value. All its methods speak of
// the one distribution, in the user's units. It is a small value: copy it.
type Predictive struct {
	transform Transform
	m         float64 // mean on the modelling scale; of f for counts
	model     float64 // variance of f
	noise     float64 // variance of g(y) about f; 0 for counts
	sd        float64
	law       *Law
	count     CountLaw // nil unless counts
}

// leastSD keeps a predictive without any variance a distribution.
const leastSD = 1e-12

// Gaussian returns the predictive g(y) ~ N(m, modelVar + noiseVar), all three on
// the modelling scale before standardising.
func Gaussian(t Transform, m, modelVar, noiseVar float64) Predictive {
	return Predictive{transform: t, m: m, model: modelVar, noise: noiseVar,
		sd: max(math.Sqrt(modelVar+noiseVar), leastSD), law: standard}
}

// With returns the distribution with its law of z replaced by that of a layer.
// A nil law is the normal one.
func (p Predictive) With(law *Law) Predictive {
	p.law = law
	if law == nil {
		p.law = standard
	}
	return p
}

// Location returns the mean on the modelling scale, what [Layer.Law] groups by.
func (p Predictive) Location() float64 { return p.m }

// Quantile returns the value at level q in (0, 1): g^-1(m + sd Z(q)). For counts
// it is the least y with CDF(y) >= q.
func (p Predictive) Quantile(q float64) float64 {
	if p.count != nil {
		var g countGrid
		p.fillGrid(&g)
		return p.countAt(&g, q)
	}
	return p.fromScore(p.law.Z(q))
}

// Quantiles writes the quantiles at levels to dst. For counts it costs little
// more than one of them.
func (p Predictive) Quantiles(dst, levels []float64) {
	if p.count != nil {
		var g countGrid
		p.fillGrid(&g)
		for i, q := range levels {
			dst[i] = p.countAt(&g, q)
		}
		return
	}
	for i, q := range levels {
		dst[i] = p.fromScore(p.law.Z(q))
	}
}

// Median returns Quantile(1/2).
func (p Predictive) Median() float64 { return p.Quantile(0.5) }

// fromScore returns the value of a score z.
func (p Predictive) fromScore(z float64) float64 { return p.transform.Inverse(p.m + p.sd*z) }

// CDF returns the probability of y or less.
func (p Predictive) CDF(y float64) float64 {
	_, upto := p.levels(y)
	return upto
}

// levels returns the probabilities of less than y, and of y or less. They differ
// where y has a mass of its own: counts, the least value of a root's scale, ties
// of a layer's scores.
func (p Predictive) levels(y float64) (below, upto float64) {
	if p.count != nil {
		y = math.Floor(y)
		if p.law.n == 0 {
			return p.mixtureCDF(y - 1), p.mixtureCDF(y)
		}
		var g countGrid
		p.fillGrid(&g)
		return p.gridLevels(&g, y)
	}
	z := (p.transform.Forward(y) - p.m) / p.sd
	upto = p.law.CDF(z)
	below = upto
	if p.law.n > 0 {
		below = p.law.below(z)
	}
	if y <= p.transform.least() {
		below = 0
	}
	return below, upto
}

// Density returns the density at y, or the probability of y where it has one:
// counts, and the least value of a root's scale.
func (p Predictive) Density(y float64) float64 { return math.Exp(p.LogDensity(y)) }

// LogDensity returns the logarithm of Density. It is -Inf where nothing can lie.
func (p Predictive) LogDensity(y float64) float64 {
	if p.count != nil {
		return p.countLogDensity(y)
	}
	g := p.transform.Forward(y)
	if math.IsInf(g, -1) {
		return g
	}
	if y == p.transform.least() {
		return p.law.logCDF(-p.m / p.sd)
	}
	return p.law.logDensity((g-p.m)/p.sd) - math.Log(p.sd) + p.transform.logDerivative(g)
}

// Draw returns a value from the distribution.
func (p Predictive) Draw(rng *rand.Rand) float64 {
	if p.count == nil && p.law.n == 0 {
		return p.fromScore(rng.NormFloat64())
	}
	u := rng.Float64()
	for u == 0 {
		u = rng.Float64()
	}
	return p.Quantile(u)
}

// Score returns the signed z a layer is made of: (g(y) - m)/sd, or the normal
// score of the randomised PIT for counts, which takes its random number from the
// seed and the row's index. The distribution must be without a layer.
func (p Predictive) Score(y float64, seed, index uint64) float64 {
	if p.count == nil {
		return (p.transform.Forward(y) - p.m) / p.sd
	}
	var g countGrid
	p.fillGrid(&g)
	return p.randomScore(&g, y, uniform(seed, index))
}

// PIT returns the level of y, uniform on (0, 1) if the distribution is right:
// CDF(y), or a random number between the probabilities of less than y and of y or
// less where these differ.
func (p Predictive) PIT(y float64, seed, index uint64) float64 {
	below, upto := p.levels(y)
	return pit(below, upto, seed, index)
}

func pit(below, upto float64, seed, index uint64) float64 {
	if below == upto {
		return upto
	}
	return below + uniform(seed, index)*(upto-below)
}
