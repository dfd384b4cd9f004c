package predictive

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A Distribution is the predictive distribution of the value of one cell, in the
// units of the target. It is a small value: pass it by value. Construct
// it with [Gaussian], [CountMixture] or [FiniteMixture].
type Distribution struct {
	transform targetscale.Transform
	m         float64 // mean on the modelling scale; mean of f for counts
	model     float64 // variance of f
	noise     float64 // variance of g(y) given f; 0 for counts
	sd        float64
	scores    *ScoreDistribution
	count     CountDistribution // nil unless the value is a count
	finite    *finiteMixture    // nil unless the value is one of few
	heap      *Heaped           // nil unless the value is an integer whose cells have other weights
	clamped   bool              // values below 0 are 0
	means     *MeanCurve        // correction of the mean, nil for none
	mixed     mixedMean
	row       *NormalRow // with gaussianMoments, nil if they are not known
}

// minSD is the smallest standard deviation of a logarithmic rate that differs from 0.
const minSD = 1e-12

// leastSD keeps a distribution without any variance proper. It is far below the unit of
// any target: the noise of a model has a floor relative to that unit.
const leastSD = 1e-150

// Gaussian returns the distribution with g(y) ~ N(m, modelVar + noiseVar). All
// three numbers are on the scale of g, before standardisation.
func Gaussian(t targetscale.Transform, m, modelVar, noiseVar float64) Distribution {
	return Distribution{transform: t, m: m, model: modelVar, noise: noiseVar,
		sd: max(math.Sqrt(modelVar+noiseVar), leastSD), scores: standardNormal}
}

// Move gives a distribution of [Gaussian] other moments and keeps the rest, for loops over
// many cells.
func (d *Distribution) Move(m, modelVar, noiseVar float64) {
	d.m, d.model, d.noise, d.heap, d.mixed, d.row = m, modelVar, noiseVar, nil, mixedMean{}, nil
	d.sd = max(math.Sqrt(modelVar+noiseVar), leastSD)
}

// SetScores is WithScores in place.
func (d *Distribution) SetScores(scores *ScoreDistribution) {
	d.scores = scores
	if scores == nil {
		d.scores = standardNormal
	}
}

// WithScores returns the distribution with another distribution of its
// standardised score. Nil means the standard normal distribution.
func (d Distribution) WithScores(scores *ScoreDistribution) Distribution {
	d.SetScores(scores)
	return d
}

// IsCount reports whether the value is a count or another whole number.
func (d Distribution) IsCount() bool { return d.count != nil || d.heap != nil }

// IsDiscrete reports whether the value is a count, another integer or one of few values.
func (d Distribution) IsDiscrete() bool { return d.count != nil || d.finite != nil || d.heap != nil }

// Location returns the mean on the modelling scale, or of f for counts.
func (d Distribution) Location() float64 { return d.m }

// Spread returns the standard deviation on the modelling scale, or of f for counts.
func (d Distribution) Spread() float64 { return d.sd }

// Quantile returns the value at level p in (0, 1): g^-1(m + sd Z(p)). For counts
// it is the smallest y with CDF(y) >= p.
func (d Distribution) Quantile(p float64) float64 {
	var q [1]float64
	d.Quantiles(q[:], []float64{p})
	return q[0]
}

// Quantiles writes the quantiles at levels to dst. For counts all of them together
// cost little more than one.
func (d Distribution) Quantiles(dst, levels []float64) {
	if d.count != nil {
		var g countGrid
		d.fillGrid(&g)
		for i, p := range levels {
			dst[i] = d.countQuantile(&g, p)
		}
		return
	}
	if d.finite != nil {
		for i, p := range levels {
			dst[i] = d.finite.quantile(p)
		}
		return
	}
	if d.heap != nil {
		for i, p := range levels {
			dst[i] = d.heapQuantile(p)
		}
		return
	}
	for i, p := range levels {
		dst[i] = d.fromScore(d.scores.Quantile(p))
	}
}

// Median returns Quantile(1/2).
func (d Distribution) Median() float64 { return d.Quantile(0.5) }

// fromScore returns the value with score z.
func (d *Distribution) fromScore(z float64) float64 {
	y := d.transform.Inverse(d.m + d.sd*z)
	if d.clamped {
		y = max(y, 0)
	}
	return y
}

// CDF returns P(Y <= y).
func (d Distribution) CDF(y float64) float64 {
	_, upTo := d.CDFLimits(y)
	return upTo
}

// CDFLimits returns P(Y < y) and P(Y <= y). They differ where y has positive
// probability: at counts, at the lower bound of sqrt, cbrt1p and non-negative
// distributions, and at ties of an empirical score distribution.
func (d Distribution) CDFLimits(y float64) (below, upTo float64) {
	if d.count != nil {
		y = math.Floor(y)
		if d.scores.n == 0 {
			return d.mixtureCDF(y - 1), d.mixtureCDF(y)
		}
		var g countGrid
		d.fillGrid(&g)
		return d.gridCDFLimits(&g, y)
	}
	if d.finite != nil {
		return d.finite.limits(y)
	}
	if d.heap != nil {
		return d.heapLevel(math.Ceil(y) - 1), d.heapLevel(y)
	}
	z := (d.transform.Forward(y) - d.m) / d.sd
	upTo = d.scores.CDF(z)
	below = upTo
	if d.scores.n > 0 {
		below = d.scores.cdfBelow(z)
	}
	if bound := d.lowerBound(); y <= bound {
		below = 0
		if y < bound {
			upTo = 0
		}
	}
	return below, upTo
}

// Density returns the density at y, or the probability of y where that is
// positive: at counts and at the lower bound of sqrt, cbrt1p and non-negative
// distributions.
func (d Distribution) Density(y float64) float64 { return math.Exp(d.LogDensity(y)) }

// LogDensity returns the logarithm of Density, and -Inf for impossible values.
func (d Distribution) LogDensity(y float64) float64 {
	if d.count != nil {
		return d.countLogDensity(y)
	}
	if d.finite != nil {
		below, upTo := d.finite.limits(y)
		return math.Log(upTo - below)
	}
	if d.heap != nil {
		below, upTo := d.CDFLimits(y)
		return math.Log(max(upTo-below, 0))
	}
	g := d.transform.Forward(y)
	bound := d.lowerBound()
	if math.IsInf(g, -1) || y < bound {
		return math.Inf(-1)
	}
	if y == bound {
		return d.scores.logCDF(d.boundScore())
	}
	return d.scores.logDensity((g-d.m)/d.sd) - math.Log(d.sd) + d.transform.LogDerivativeAt(g)
}

// Draw returns a random value from the distribution.
func (d Distribution) Draw(rng *rand.Rand) float64 {
	if !d.IsDiscrete() && d.scores.normal() {
		return d.fromScore(rng.NormFloat64())
	}
	u := rng.Float64()
	for u == 0 {
		u = rng.Float64()
	}
	return d.Quantile(u)
}

// Score returns the standardised score z of a value, from which a
// [ScoreDistribution] is estimated: (g(y) - m)/sd, or for counts the normal score
// of the randomised PIT, whose random number depends on the seed and on the index
// of the row. The receiver must have the standard normal score distribution.
func (d Distribution) Score(y float64, seed, index uint64) float64 {
	if d.count == nil {
		return (d.transform.Forward(y) - d.m) / d.sd
	}
	var g countGrid
	d.fillGrid(&g)
	return d.randomScore(&g, y, uniform(seed, index))
}

// PIT returns the probability integral transform of y, which is uniform on (0, 1)
// if the distribution is correct: CDF(y), or a random number between P(Y < y) and
// P(Y <= y) where these differ. The random number depends on the seed and on the
// index of the row.
func (d Distribution) PIT(y float64, seed, index uint64) float64 {
	below, upTo := d.CDFLimits(y)
	return randomizedPIT(below, upTo, seed, index)
}

func randomizedPIT(below, upTo float64, seed, index uint64) float64 {
	if below == upTo {
		return upTo
	}
	return below + uniform(seed, index)*(upTo-below)
}
