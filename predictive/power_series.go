package predictive

import "math"

// seriesDegree is the degree of the Taylor polynomials of a power's inverse. The sums over
// nodes of a score distribution and the moments of a normal distribution are needed up to
// twice that power.
const seriesDegree = 14

type (
	coefficients [seriesDegree + 1]float64
	powerSums    [2*seriesDegree + 1]float64
)

// RoundPower returns a power near p, at most an eighth above it, whose reciprocal is a whole
// number, so that the inverse of the scale is a polynomial: its moments are exact and cost a
// third of those of other powers. Powers above 1/2 and below 1/seriesDegree are returned
// unchanged.
func RoundPower(p float64) float64 {
	const above = 0.25 // of the reciprocal
	if degree := math.Ceil(1/p - above); p <= 0.5 && degree <= seriesDegree {
		return 1 / degree
	}
	return p
}

// taylorDegree returns the degree of the Taylor polynomials of the inverse of a power P. If
// 1/P is a whole number up to seriesDegree, the inverse is a polynomial of that degree, and
// exact is true.
func taylorDegree(p float64) (degree int, exact bool) {
	if degree = int(1/p + 0.5); p > 0 && degree <= seriesDegree && float64(degree)*p == 1 {
		return degree, true
	}
	return seriesDegree, false
}

// setInverse sets the Taylor coefficients in t, at t = 0, of
// (1 + P g)^(1/P), or exp(g) for P = 0, at g = m + s t, up to the degree of the polynomial. It reports false if the polynomial
// may not converge: 1 + P m must be at least minBase, unless 1/P is a whole number.
func (a *coefficients) setInverse(degree int, exact bool, p, m, s float64) (known bool) {
	base := 1 + p*m
	switch {
	case exact: // C(1/P, k) (1 + P m)^(1/P - k) (P s)^k
		power := 1.0
		for k := degree; k >= 0; k-- {
			a[k] = power
			power *= base
		}
		by := 1.0
		for k := range degree {
			by *= p * s * float64(degree-k) * seriesInverse[k+1]
			a[k+1] *= by
		}
		return true
	case base < minBase:
		return false
	case p == 0:
		a[0] = math.Exp(m)
	default:
		a[0] = math.Exp(math.Log(base) / p)
	}
	step := s / base
	for k := range degree {
		a[k+1] = a[k] * step * (1 - float64(k)*p) * seriesInverse[k+1]
	}
	return true
}

var seriesInverse = func() (inverse [2*seriesDegree + 2]float64) {
	for k := 1; k < len(inverse); k++ {
		inverse[k] = 1 / float64(k)
	}
	return
}()

// sum returns the sum of a_k u_k up to a degree.
func (a *coefficients) sum(u *powerSums, degree int) (sum float64) {
	for k, v := range a[:degree+1] {
		sum += v * u[k]
	}
	return sum
}

// squares returns the sum of a_j a_k u_(j+k) up to a degree.
func (a *coefficients) squares(u *powerSums, degree int) (sum float64) {
	for k, v := range a[:degree+1] {
		part := v * u[2*k] / 2
		for j := range k {
			part += a[j] * u[j+k]
		}
		sum += 2 * v * part
	}
	return sum
}

// converged reports whether the polynomial is exact to about 1e-8 in mean square: its last
// two terms are negligible against the given sum of squares.
func (a *coefficients) converged(u *powerSums, squares float64) bool {
	const n = seriesDegree
	last := a[n]*a[n]*u[2*n] + a[n-1]*a[n-1]*u[2*n-2]
	return last <= 1e-16*squares
}

// normalMoments are E[t^k; t > z] and E[t^k; t < z] for t ~ N(0, 1).
type normalMoments struct {
	z, density   float64
	above, below powerSums
}

// fullMoments are E[t^k].
var fullMoments = func() (u powerSums) {
	u[0] = 1
	for k := 2; k < len(u); k += 2 {
		u[k] = float64(k-1) * u[k-2]
	}
	return
}()

// set computes the moments up to a power from zero ones, by
// E[t^k; t > z] = z^(k-1) phi(z) + (k-1) E[t^(k-2); t > z].
func (u *normalMoments) set(z float64, most int) {
	u.z = z
	if z < negligible-1 {
		copy(u.above[:], fullMoments[:most+1])
		return
	}
	var cdf float64
	cdf, u.density = normal(-z)
	u.above[0], u.above[1] = cdf, u.density
	u.below[0], u.below[1] = 1-cdf, -u.density
	edge := u.density
	for k := 2; k <= most; k++ {
		edge *= z
		u.above[k] = float64(k-1)*u.above[k-2] + edge
		u.below[k] = float64(k-1)*u.below[k-2] - edge
	}
}

// A powerTaylor is the inverse of a power at the scores of a normal distribution: Taylor
// polynomials in the score t on either side of 0 as deviations from the value at t = 0,
// and the moments of t there. The unit is 1.
type powerTaylor struct {
	normalMoments
	degree       int
	upper, lower coefficients
	centre       float64
}

// powerTaylor returns nil if the transform is not a power with an integral as its mean,
// or if the polynomials do not converge, for very wide distributions.
func (d *Distribution) powerTaylor() *powerTaylor {
	if d.transform.kind != power || d.transform.power == 1 {
		return nil
	}
	return d.newPowerTaylor(new(powerTaylor))
}

func (d *Distribution) newPowerTaylor(x *powerTaylor) *powerTaylor {
	p, z := d.transform.power, -d.m/d.sd
	if !(z < -negligible) {
		return nil
	}
	var exact bool
	x.degree, exact = taylorDegree(p)
	if !x.upper.setInverse(x.degree, exact, p, d.m, d.sd) {
		return nil
	}
	x.set(z, 2*x.degree)
	x.centre = x.upper[0] - 1
	x.upper[0] = 0
	if x.below[0] > 0 {
		if !x.lower.setBelow(x.degree, exact, p, d.m, d.sd, x.centre) {
			return nil
		}
	}
	if exact {
		return x
	}
	squares := x.upper.squares(&x.above, x.degree)
	if !x.upper.converged(&x.above, squares) || !x.lower.converged(&x.below, squares) {
		return nil
	}
	return x
}

// minBase is the least 1 + P m at which a series is tried.
const minBase = 0.05

// setBelow is setInverse for the values below 0, y(g) = -y(-g), less the centre.
func (a *coefficients) setBelow(degree int, exact bool, p, m, s, centre float64) (known bool) {
	known = a.setInverse(degree, exact, p, -m, -s)
	for k := range a[:degree+1] {
		a[k] = -a[k]
	}
	a[0] += 1 - centre
	return known
}

// mean returns the mean, that of the odd continuation.
func (x *powerTaylor) mean(unit float64) float64 {
	return (x.centre + x.upper.sum(&x.above, x.degree) + x.lower.sum(&x.below, x.degree)) * unit
}

// polynomialMean is [powerTaylor.mean] where the inverse of a power is a polynomial, without
// the moments that only variances need. It is false for others.
func (d *Distribution) polynomialMean() (mean float64, ok bool) {
	t := &d.transform
	if t.kind != power || t.power == 1 {
		return 0, false
	}
	degree, exact := taylorDegree(t.power)
	z := -d.m / d.sd
	if !exact || !(z < -negligible) {
		return 0, false
	}
	var upper, lower coefficients
	upper.setInverse(degree, exact, t.power, d.m, d.sd)
	centre := upper[0] - 1
	if z < negligible-1 {
		sum := 0.0
		for k := 2; k <= degree; k += 2 {
			sum += upper[k] * fullMoments[k]
		}
		return (centre + sum) * t.unit, true
	}
	cdf, density := normal(-z)
	below := 1 - cdf
	if below > 0 {
		lower.setBelow(degree, exact, t.power, d.m, d.sd, centre)
	}
	// The moments of the score above and below z, the last and the one before it; see
	// normalMoments.
	above0, above1, below0, below1 := cdf, density, below, -density
	high, low, edge := upper[1]*above1, lower[0]*below0+lower[1]*below1, density
	for k := 2; k <= degree; k++ {
		edge *= z
		above0, above1 = above1, float64(k-1)*above0+edge
		below0, below1 = below1, float64(k-1)*below0-edge
		high += upper[k] * above1
		low += lower[k] * below1
	}
	return (centre + high + low) * t.unit, true
}

// variances is powerVariances by the series: O(1), without exponentials per node.
func (x *powerTaylor) variances(d *Distribution) (model, noise float64) {
	lower := x.degree
	if d.clamped {
		x.lower, lower = coefficients{-x.centre}, 0
	}
	mean := x.upper.sum(&x.above, x.degree) + x.lower.sum(&x.below, lower)
	second := x.upper.squares(&x.above, x.degree)
	if x.below[0] > 0 {
		second += x.lower.squares(&x.below, lower)
	}
	total := max(second-mean*mean, 0)
	model = total
	if d.noise > 0 {
		model = d.seriesModel(x, total)
	}
	square := d.transform.unit * d.transform.unit
	return model * square, (total - model) * square
}

// seriesModel returns Var E[y|f] as the sum over k of rho^k c_k^2, with rho the share of f
// in the variance and the Hermite coefficients c_k = E[y^(k)]/sqrt(k!) of y as a function
// of t: the expectation of the derivatives of the polynomials and, where a derivative
// jumps at z, of the densities that this gives in the further ones.
func (d *Distribution) seriesModel(x *powerTaylor, total float64) float64 {
	p, u := d.transform.power, &x.normalMoments
	rho, share := d.model/(d.model+d.noise), 1.0
	rest, model := total, 0.0
	up, low := x.upper, x.lower
	var jump, hermite [hermiteTerms]float64
	edge := 1.0           // derivative of y above 0 with respect to t
	jumps := hermiteTerms // of the higher derivatives, that of a polynomial is 0
	if _, exact := taylorDegree(p); exact {
		jumps = x.degree + 1
	}
	degree := x.degree
	for k := 1; k < hermiteTerms; k++ {
		// The k-th derivative, over the root of k!.
		scale := seriesRoot[k]
		c := 0.0
		for j := 0; j <= degree-k; j++ {
			by := seriesNumber[j+1] * scale
			up[j] = up[j+1] * by
			low[j] = low[j+1] * by
			c += up[j]*u.above[j] + low[j]*u.below[j]
		}
		if u.density > 0 {
			// hermite[j] is He_j(z), jump[i] the jump of the i-th derivative.
			switch j := k - 1; j {
			case 0:
				hermite[0] = 1
			case 1:
				hermite[1] = u.z
			default:
				hermite[j] = u.z*hermite[j-1] - seriesNumber[j-1]*hermite[j-2]
			}
			odd, even := 0.0, 0.0 // two sums, so that one does not wait for the other
			i, most := 1, min(k, jumps)
			for ; i+1 < most; i += 2 {
				odd += jump[i] * hermite[k-1-i]
				even += jump[i+1] * hermite[k-2-i]
			}
			if i < most {
				odd += jump[i] * hermite[k-1-i]
			}
			c += (odd + even) * u.density * inverseRootFactorial[k]
			edge *= d.sd * (1 - float64(k-1)*p)
			switch {
			case d.clamped:
				jump[k] = edge
			case k%2 == 0:
				jump[k] = 2 * edge
			}
		}
		share *= rho
		model += share * c * c
		if rest -= c * c; rest < 0 {
			rest = 0
		}
		if share*rest <= 1e-11*model {
			break
		}
	}
	return min(model+share*rho*rest, total)
}

// seriesNumber[k] is k.
var seriesNumber = func() (f [hermiteTerms]float64) {
	for k := range f {
		f[k] = float64(k)
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
