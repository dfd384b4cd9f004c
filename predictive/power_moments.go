package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// The moments of a power under normal scores are sums over Hermite coefficients. With
// T(x) = (1 + P x)^(1/P), or exp(x) for P = 0, a distribution with m >= 0 and y >= 0 has
//
//	y + 1 = T(m + sd t) = A T(tau t),   A = T(m),   tau = sd/(1 + P m),   t ~ N(0, 1),
//
// in the unit of the power. The Hermite coefficients c_k = E[y^(k)(t)]/sqrt(k!) give the mean
// c_0, the variance, which is the sum of c_k^2 over k > 0, and the variance of E[y|f], which
// is that of rho^k c_k^2 with rho the share of f in the variance.
//
// The smooth part continues T below y = 0. Because (1 + P x) T' = T, its expectations
// E[T^(k)(tau t)] = (1 - P) ... (1 - (k-1) P) I_k obey, with E[t f(t)] = E[f'(t)],
//
//	I_k = I_(k+1) + P tau^2 (1 - (k+1) P) I_(k+2),
//
// downwards from two short power series in tau^2.
//
// Below y = 0 the distribution is not T: y is 0, or minus T of -g. The difference is a power
// series in w = x - t > 0, with x = -m/sd the score of 0, and E[w^j/j!; w > 0] are the repeated
// integrals of the normal density,
//
//	J_(-1) = phi(x),   J_0 = Phi(x),   n J_n = x J_(n-1) + J_(n-2).
//
// A derivative with respect to t lowers n by one, also to the densities n < 0.
//
// A distribution costs one logarithm, one exponential and some 200 multiplications. Both
// expansions are asymptotic unless 1/P is a whole number or 0: they leave out the probability
// of 1 + P g < 0. If they do not reach 1e-10, for very wide distributions, the caller
// integrates numerically.

const (
	hermiteTerms = 24 // at most, of the expansion in Hermite polynomials
	edgeTerms    = 24 // at most, of the power series below 0
	edgePlaces   = hermiteTerms + edgeTerms + 1
)

// A powerExpansion is the expansion of a power, or of log1p with P = 0.
type powerExpansion struct {
	centre float64               // A; 0 if not known
	smooth [hermiteTerms]float64 // c_k of the smooth part; 0 if above
	spread float64               // sum of their squares for k > 0

	above    bool                // m < 0 and y >= 0: all of y is the power series, in w = t + x
	score    float64             // -x
	edges    int                 // terms of the power series; 0 without any
	slope    [edgePlaces]float64 // derivatives at 0 of T with respect to w
	integral [edgePlaces]float64 // J_n at n + hermiteTerms
	// Sums over terms of E[T(g) - 1; w > 0] and E[(T(g) - 1)^2; w > 0], of even and odd ones.
	even, odd, evenSquare, oddSquare float64
}

// setSmooth sets the smooth part for m >= 0.
func (e *powerExpansion) setSmooth(p, m, sd float64) bool {
	base := 1 + p*m
	tau := sd / base
	v := tau * tau
	last := 1
	slope := 1 - p
	for size := 1.0; slope != 0; { // of c_k^2/c_1^2
		size *= v * slope * slope * seriesInverse[last+1]
		if last++; size <= 1e-11 {
			break
		}
		if last == hermiteTerms-2 {
			return false
		}
		slope = 1 - seriesNumber[last]*p
	}
	e.smooth[last] = 1
	next := 0.0
	if slope != 0 { // else this is the degree of a polynomial
		var ok, both bool
		e.smooth[last], ok = derivativeSeries(p, last, v/2)
		next, both = derivativeSeries(p, last+1, v/2)
		if !ok || !both {
			return false
		}
	}
	for k := last - 1; k >= 0; k-- {
		e.smooth[k] = e.smooth[k+1] + p*v*(1-seriesNumber[k+1]*p)*next
		next = e.smooth[k+1]
	}
	e.centre = powerCurve(p, m)
	factor := e.centre
	e.smooth[0] *= factor
	for k := 1; k <= last; k++ {
		factor *= tau * (1 - seriesNumber[k-1]*p) * seriesRoot[k]
		e.smooth[k] *= factor
		e.spread += e.smooth[k] * e.smooth[k]
	}
	return true
}

// derivativeSeries returns I_k = sum over j of (1 - kP) ... (1 - (k+2j-1) P) u^j/j!, with
// u = tau^2/2.
func derivativeSeries(p float64, k int, u float64) (sum float64, ok bool) {
	sum = 1
	term, slope := 1.0, 1-float64(k)*p
	for j := 1; j < len(seriesInverse); j++ {
		term *= slope * (slope - p) * u * seriesInverse[j]
		slope -= 2 * p
		sum += term
		if math.Abs(term) <= 1e-11*math.Abs(sum) {
			return sum, true
		}
	}
	return 0, false
}

// powerCurve returns T(g).
func powerCurve(p, g float64) float64 {
	if p == 0 {
		return math.Exp(g)
	}
	base := 1 + p*g
	if degree, whole := targetscale.PolynomialDegree(p); whole {
		return intPower(base, degree)
	}
	return math.Exp(math.Log(base) / p)
}

// setEdge sets the power series at 0, which is at the score x <= 0.
func (e *powerExpansion) setEdge(p, sd, x float64) bool {
	cdf, density := normal(x)
	j := (*[edgeTerms + 2]float64)(e.integral[hermiteTerms-1:]) // J_n is at n + 1
	j[0], j[1] = density, cdf
	e.score = -x
	slope, square := 1.0, 1.0 // derivatives of T and T^2
	e.slope[0] = 1
	limit := 0.0
	for n := 1; n <= edgeTerms; n++ {
		j[n+1] = (x*j[n] + j[n-1]) * seriesInverse[n]
		slope *= sd * (1 - seriesNumber[n-1]*p)
		square *= sd * (2 - seriesNumber[n-1]*p)
		e.slope[n] = slope
		a, b := slope*j[n+1], (square-2*slope)*j[n+1]
		if n%2 == 0 {
			e.even += a
			e.evenSquare += b
		} else {
			e.odd += a
			e.oddSquare += b
		}
		if n == 2 { // what matters to these sums, or to the variance
			limit = 1e-11 * (math.Abs(b) + e.spread/(1+e.smooth[0]))
		}
		if n > 2 && math.Abs(a)+math.Abs(b) <= limit {
			e.edges = n
			return true
		}
	}
	return false
}

// leastEdge is the score of 0 below which what is below 0 is left out: it changes the variance by
// less than 1e-8 of it.
const leastEdge = -6

// expandPower sets the expansion of a distribution on the scale of a power or log1p.
func (d *Distribution) expandPower(e *powerExpansion) bool {
	p, m, bounded := d.transform.Exponent(), d.m, d.clamped
	if d.transform.Kind() == targetscale.KindPower {
		if p == 1 {
			return false
		}
		m, bounded = math.Abs(m), true
	}
	e.above = d.clamped && d.m < 0
	if !e.above && !e.setSmooth(p, m, d.sd) {
		return false
	}
	if x := -math.Abs(m) / d.sd; bounded && (e.above || x > leastEdge) {
		return e.setEdge(p, d.sd, x)
	}
	return true
}

// mean returns the mean of the odd continuation of a power, in its unit; at least 0 if the
// distribution is clamped.
func (e *powerExpansion) mean(d *Distribution) float64 {
	if e.above {
		return 0
	}
	mean := math.Copysign(e.smooth[0]-1-2*e.even, d.m)
	if d.clamped {
		mean = max(mean, 0)
	}
	return mean
}

// variances returns gaussianVariances, in the unit of the power.
func (e *powerExpansion) variances(d *Distribution) (model, noise float64) {
	var total float64
	if e.above {
		mean := e.even + e.odd
		total = e.evenSquare + e.oddSquare - mean*mean
	} else {
		// Var y = spread + E[y^2 - s^2] - 2 E[s] E[y - s] - E[y - s]^2, with s the smooth part.
		change, square := e.odd-e.even, e.oddSquare-e.evenSquare
		if !d.clamped {
			change, square = -2*e.even, 2*e.oddSquare
		}
		total = e.spread + square - 2*(e.smooth[0]-1)*change - change*change
	}
	total = max(total, 0)
	if d.noise == 0 {
		return total, 0
	}
	rho, share, rest := d.model/(d.model+d.noise), 1.0, total
	for k := 1; k < hermiteTerms; k++ {
		c := e.smooth[k]
		if e.edges > 0 {
			c += e.coefficient(d, k)
		}
		share *= rho
		model += share * c * c
		if rest -= c * c; rest < 0 {
			rest = 0
		}
		if share*rest <= 1e-9*model {
			break
		}
	}
	model = min(model+share*rho*rest, total)
	return model, total - model
}

// coefficient returns the part of the power series in c_k, for k = 1, 2, ... in turn.
func (e *powerExpansion) coefficient(d *Distribution, k int) float64 {
	if k > 2 { // J_(1-k)
		lowest := e.integral[hermiteTerms+1-k:]
		lowest[0] = float64(3-k)*lowest[2] + e.score*lowest[1]
	}
	last := e.edges + k
	e.slope[last] = e.slope[last-1] * d.sd * (1 - seriesNumber[last-1]*d.transform.Exponent())
	slope, integral := e.slope[1:last+1], e.integral[hermiteTerms+1-k:]
	integral = integral[:len(slope)]
	first, second := 0.0, 0.0 // two sums, so that one does not wait for the other
	i := 0
	for ; i+1 < len(slope); i += 2 {
		first += slope[i] * integral[i]
		second += slope[i+1] * integral[i+1]
	}
	if i < len(slope) {
		first += slope[i] * integral[i]
	}
	// The first term has n = 1 - k.
	even, odd := first, second
	if k%2 == 0 {
		even, odd = odd, even
	}
	switch {
	case e.above:
		return (even + odd) * inverseRootFactorial[k]
	case d.clamped:
		return (odd - even) * inverseRootFactorial[k]
	case k%2 == 0:
		return -2 * even * inverseRootFactorial[k]
	}
	return 2 * odd * inverseRootFactorial[k]
}

// seriesNumber[k] is k, and seriesInverse[k] is 1/k.
var seriesNumber, seriesInverse = func() (number [edgePlaces + 1]float64, inverse [edgeTerms + 1]float64) {
	for k := range number {
		number[k] = float64(k)
	}
	for k := 1; k < len(inverse); k++ {
		inverse[k] = 1 / float64(k)
	}
	return
}()

// inverseRootFactorial[k] is 1 over the root of k!.
var inverseRootFactorial = func() (f [hermiteTerms]float64) {
	root := 1.0
	f[0] = 1
	for k := 1; k < len(f); k++ {
		root *= math.Sqrt(float64(k))
		f[k] = 1 / root
	}
	return
}()
