package likelihood

import (
	"math"
	"math/rand/v2"
)

// Hurdle is a count of two parts: whether it is above 0, which has the logarithmic odds
// Shift + Slope f, and if so how large it is, which has a zero-truncated negative binomial
// distribution with mu = exp f and the given Size:
//
//	P(0|f) = 1 - h,  P(y|f) = h NB(y|f) / (1 - NB(0|f)) for y > 0,  h = sigma(Shift + Slope f)
//
// One field drives both parts. With Shift 0 and Slope and Size 1 it is the negative
// binomial of size 1; other values give more or fewer zeros than a negative binomial has,
// most of them at low rates.
type Hurdle struct {
	Size  float64 `json:"size"`
	Shift float64 `json:"shift"`
	Slope float64 `json:"slope"`
}

// NewHurdle returns the distribution at which a fit starts.
func NewHurdle() Hurdle { return Hurdle{Size: 1, Slope: 1} }

// Base returns the distribution that is truncated.
func (h Hurdle) Base() NegativeBinomial { return NegativeBinomial{Size: h.Size} }

// Expect returns E[log P(y|f)] over f ~ N(m, v), the sum of those of both parts.
func (h Hurdle) Expect(y, m, v float64) Expectation {
	at := func(psi float64) [3]float64 { return truncationAt(h.Size, psi) }
	return h.expect(y, m, v, h.Base().constant(y), at)
}

func (h Hurdle) expect(y, m, v, constant float64, truncated func(psi float64) [3]float64) Expectation {
	odds := h.Shift + h.Slope*m
	s0, s1, s2 := softplus(odds, h.Slope*h.Slope*v)
	e := Expectation{Value: -s0, ByMean: -h.Slope * s1, ByVariance: -h.Slope * h.Slope * s2 / 2}
	if y == 0 {
		return e
	}
	base, cut := h.Base().expect(y, m-math.Log(h.Size), v, constant), truncation(h.Size, m, v, truncated)
	e.Value += odds + base.Value + cut.Value
	e.ByMean += h.Slope + base.ByMean + cut.ByMean
	e.ByVariance += base.ByVariance + cut.ByVariance
	return e
}

// Sites writes the Gaussian observation that replaces each cell and returns the weighted
// sum of expected log likelihoods. A count above 0 that is not far above 0 costs 25
// cubics.
func (h Hurdle) Sites(cells Cells, out Sites, loop Loop) float64 {
	constant, truncated := h.Base().constants(), truncations(h.Size)
	return sites(cells, out, loop, func(y, m, v float64) Expectation { return h.expect(y, m, v, constant(y), truncated) })
}

// truncation returns the expectation of -log(1 - NB(0|f)), whose values and derivatives at
// psi = f - log size are those of at, by the trapezoidal rule or, for small v, by that of
// Gauss and Hermite. Singularities may be half as far as those of softplus, so the steps are
// shorter.
func truncation(size, m, v float64, at func(psi float64) [3]float64) Expectation {
	if none := m + v; math.IsNaN(none) {
		return Expectation{none, none, none}
	}
	sd := math.Sqrt(min(max(v, 0), maxSD*maxSD))
	shift := math.Log(size)
	if size*logOnePlusExp(m-truncationReach*sd-shift) > 40 {
		return Expectation{} // no zeros to cut off
	}
	var e Expectation
	add := func(w, psi float64) {
		l := at(psi)
		e.Value += w * l[0]
		e.ByMean += w * l[1]
		e.ByVariance += w * l[2] / 2
	}
	centre := min(m-shift, highestLog)
	if sd <= smallSD/2 {
		add(hermiteWeights[0], centre)
		for k, w := range hermiteWeights[1:] {
			z := sd * hermiteNodes[k+1]
			add(w, centre+z)
			add(w, centre-z)
		}
		return e
	}
	weights := truncationWeights[min(int(math.Ceil(sd)), maxSD)-1]
	step := sd / float64(2*max(1, int(math.Ceil(sd))))
	add(weights[0], centre)
	for k, w := range weights[1:] {
		z := float64(k+1) * step
		add(w, centre+z)
		add(w, centre-z)
	}
	return e
}

// truncationAt returns -log(1 - NB(0|f)) at psi = f - log size, and its first two derivatives.
// With u = log(1 + exp psi) and k = 1/(exp(r u) - 1), the expected number of zeros that precede
// a count above 0, the derivatives are -r s k and -r s (1-s) k + (r s)^2 k (1+k), s = sigma(psi).
func truncationAt(size, psi float64) [3]float64 {
	if psi < lowestPsi {
		l := truncationAt(size, lowestPsi)
		l[0] += lowestPsi - psi
		return l
	}
	rate := math.Exp(psi)
	some := -math.Expm1(-size * math.Log1p(rate))
	s, zeros := 1/(1+1/rate), (1-some)/some
	return [3]float64{-math.Log(some), -size * s * zeros, size*s*size*s*zeros*(1+zeros) - size*s*(1-s)*zeros}
}

// truncations returns truncationAt of one size for many psi: from a table with 32 values per unit
// between lowestPsi and -lowestPsi, by cubics through four of them, with errors below 2e-7. The table
// costs as much as the expectations of some eighty cells without it.
func truncations(size float64) func(psi float64) [3]float64 {
	const perUnit = 32
	table := make([][3]float64, -2*lowestPsi*perUnit+1)
	for i := range table {
		table[i] = truncationAt(size, lowestPsi+float64(i)/perUnit)
	}
	return func(psi float64) (l [3]float64) {
		at := (psi - lowestPsi) * perUnit
		if !(at >= 1 && at < float64(len(table)-2)) {
			return truncationAt(size, psi)
		}
		i := int(at)
		t := at - float64(i)
		f, w := table[i-1:i+3], [4]float64{-t * (t - 1) * (t - 2) / 6, (t + 1) * (t - 1) * (t - 2) / 2, -(t + 1) * t * (t - 2) / 2, (t + 1) * t * (t - 1) / 6}
		for k := range l {
			l[k] = w[0]*f[0][k] + w[1]*f[1][k] + w[2]*f[2][k] + w[3]*f[3][k]
		}
		return l
	}
}

// truncationReach is the number of standard deviations to which the nodes extend.
const truncationReach = 6

// truncationWeights[j][k] is the weight of a node k steps of 1/(2(j+1)) standard deviations
// from the centre.
var truncationWeights = truncationNodes()

func truncationNodes() (weights [maxSD][]float64) {
	for j := range weights {
		n := 2 * (j + 1) // steps per standard deviation
		total := 0.0
		for k := range truncationReach*n + 1 {
			z := float64(k) / float64(n)
			w := math.Exp(-z * z / 2)
			weights[j] = append(weights[j], w)
			if total += w; k > 0 {
				total += w
			}
		}
		for k := range weights[j] {
			weights[j][k] /= total
		}
	}
	return weights
}

// logOnePlusExp returns log(1 + exp x).
func logOnePlusExp(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// lowestPsi is where a negative binomial of any size is 0 or 1.
const lowestPsi = -30

// logSome returns log(1 - NB(0|f)) at psi = f - log Size; it is close to f far below 0.
func logSome(size, psi float64) float64 {
	if psi < lowestPsi {
		return psi + math.Log(size)
	}
	return math.Log(-math.Expm1(-size * logOnePlusExp(psi)))
}

// maxZerosBefore limits the number of zeros that precede a count in Bound.
const maxZerosBefore = 1e6

// Bound is Sites for a lower bound that is quadratic in f. The odds have the bound of
// [Bernoulli.Bound]. A truncated count is the end of a sequence of counts of which all
// others were 0; with the expected number of these, k, it has the bound of
// [NegativeBinomial.Bound] for the size r (1+k) in place of r.
func (h Hurdle) Bound(cells Cells, out Sites, loop Loop) float64 {
	r, shift, constant := h.Size, math.Log(h.Size), h.Base().constants()
	return sums(len(cells.Y), loop, func(i int) [3]float64 {
		w, y := cells.weight(i), float64(cells.Y[i])
		m, v := float64(cells.Mean[i]), float64(cells.Variance[i])
		odds, half := h.Shift+h.Slope*m, -0.5
		if y > 0 {
			half = 0.5
		}
		quarter, cosh := logisticBound(odds, h.Slope*h.Slope*v)
		value := half*odds - cosh
		precision, linear := h.Slope*h.Slope*quarter, h.Slope*(half-quarter*h.Shift)
		if y > 0 {
			quarter, cosh := logisticBound(m-shift, v)
			none := -r * ((m-shift)/2 + cosh) // bound of log NB(0|f)
			zeros := min(1/math.Expm1(-none), maxZerosBefore)
			trials := r * (1 + zeros)
			precision += (y + trials) * quarter
			linear += (y-trials)/2 + (y+trials)*quarter*shift
			value += constant(y) + (y-r)/2*(m-shift) - (y+r)*cosh - math.Log(-math.Expm1(none))
		}
		out.Target[i], out.Precision[i] = float32(linear/precision), float32(w*precision)
		return [3]float64{w * value}
	})[0]
}

// Damped returns true.
func (Hurdle) Damped() bool { return true }

// LogProb returns log P(y|f).
func (h Hurdle) LogProb(y, f float64) float64 {
	odds := h.Shift + h.Slope*f
	if y == 0 {
		return -logOnePlusExp(odds)
	}
	return -logOnePlusExp(-odds) + h.Base().LogProb(y, f) - logSome(h.Size, f-math.Log(h.Size))
}

// Mean returns E[y|f] = h mu / (1 - NB(0|f)).
func (h Hurdle) Mean(f float64) float64 {
	return logistic(h.Shift+h.Slope*f) * math.Exp(min(f, highestLog)-logSome(h.Size, f-math.Log(h.Size)))
}

// Var returns Var[y|f].
func (h Hurdle) Var(f float64) float64 {
	mean, mu := h.Mean(f), rate(f)
	return max(mean*(1+mu/h.Size+mu-mean), 0)
}

// CDF returns P(Y <= y | f).
func (h Hurdle) CDF(y, f float64) float64 {
	odds := h.Shift + h.Slope*f
	if y < 0 {
		return 0
	}
	if y < 1 {
		return logistic(-odds)
	}
	some := math.Exp(logSome(h.Size, f-math.Log(h.Size)))
	if some < 1e-10 {
		return 1 // the counts are 0 and 1
	}
	return 1 - logistic(odds)*min(max(1-h.Base().CDF(y, f), 0)/some, 1)
}

// Draw returns a count drawn given f: below a probability of 1 % of a count above 0 by
// inversion, otherwise by rejection of zeros.
func (h Hurdle) Draw(rng *rand.Rand, f float64) float64 {
	base, some := h.Base(), logSome(h.Size, f-math.Log(h.Size))
	above := logistic(h.Shift + h.Slope*f)
	switch {
	case math.IsNaN(some) || math.IsNaN(above):
		return math.NaN()
	case rng.Float64() >= above:
		return 0
	}
	if some > math.Log(0.01) {
		for {
			if y := base.Draw(rng, f); y > 0 {
				return y
			}
		}
	}
	const most = 1e6
	y, share := 1.0, logistic(f-math.Log(h.Size))
	prob := math.Exp(base.LogProb(1, f) - some)
	for u := rng.Float64() - prob; u > 0 && y < most; u -= prob {
		prob *= share * (y + h.Size) / (y + 1)
		y++
	}
	return y
}
