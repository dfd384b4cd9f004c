package likelihood

import "math"

// digamma returns the derivative of lgamma at x > 0, by recurrence up to 8 and
// then by the asymptotic series.
func digamma(x float64) float64 {
	sum := 0.0
	for x < 8 {
		sum -= 1 / x
		x++
	}
	q := 1 / (x * x)
	return sum + math.Log(x) - 0.5/x - q*(1.0/12-q*(1.0/120-q*(1.0/252-q*(1.0/240-q*(1.0/132-q*691/32760)))))
}

// trigamma returns the derivative of digamma at x > 0.
func trigamma(x float64) float64 {
	sum := 0.0
	for x < 8 {
		sum += 1 / (x * x)
		x++
	}
	q := 1 / (x * x)
	return sum + (1+0.5/x+q*(1.0/6-q*(1.0/30-q*(1.0/42-q*(1.0/30-q*(5.0/66-q*691/2730))))))/x
}

// tiny keeps the denominators of continued fractions away from zero.
const tiny = 1e-300

// large is the shape, or count, from which approximations are used: the work of
// the exact formulas grows with its square root, and the error of the
// approximations is below 1e-4 there and decreases further.
const large = 1e6

// upperGamma returns Q(a, x) = Gamma(a, x)/Gamma(a), a > 0, x >= 0. Below a+1
// it is one minus the power series, above it the continued fraction (Lentz),
// with some multiples of sqrt(a) terms. For large a the cube root of x/a is
// approximately normal (Wilson and Hilferty 1931).
func upperGamma(a, x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case a > large:
		return 0.5 * math.Erfc(3*math.Sqrt(a/2)*(math.Cbrt(x/a)-1+1/(9*a)))
	}
	front := math.Exp(a*math.Log(x) - x - logGamma(a))
	maxTerms := 200 + int(20*math.Sqrt(a))
	if x < a+1 {
		term, sum := 1/a, 1/a
		for k := 1; k < maxTerms && term > 1e-17*sum; k++ {
			term *= x / (a + float64(k))
			sum += term
		}
		return max(1-front*sum, 0)
	}
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for k := 1; k < maxTerms; k++ {
		n := float64(k)
		factor := n * (a - n)
		b += 2
		d = 1 / awayFromZero(b+factor*d)
		c = awayFromZero(b + factor/c)
		h *= c * d
		if math.Abs(c*d-1) < 1e-16 {
			break
		}
	}
	return min(front*h, 1)
}

// incompleteBeta returns I(a, b; x) at x = 1/(1+odds), b >= 1. The argument is
// the odds (1-x)/x, because x itself is close to 1 if a is large. It uses
// Lentz's continued fraction on the side where it converges fast.
func incompleteBeta(a, b, odds float64) float64 {
	logX := -math.Log1p(odds)
	front := math.Exp(logRising(a, b) - logGamma(b) + a*logX + b*(math.Log(odds)+logX))
	if odds == 0 {
		return 1
	}
	x, rest := 1/(1+odds), odds/(1+odds)
	if x < (a+1)/(a+b+2) {
		return min(front*betaFraction(a, b, x)/a, 1)
	}
	return max(1-front*betaFraction(b, a, rest)/b, 0)
}

func betaFraction(a, b, x float64) float64 {
	c, d := 1.0, 1/awayFromZero(1-(a+b)*x/(a+1))
	h := d
	maxTerms := 200 + int(20*math.Sqrt(max(a, b)))
	for k := 1; k < maxTerms; k++ {
		n := float64(k)
		even := n * (b - n) * x / ((a + 2*n - 1) * (a + 2*n))
		d = 1 / awayFromZero(1+even*d)
		c = awayFromZero(1 + even/c)
		h *= c * d
		odd := -(a + n) * (a + b + n) * x / ((a + 2*n) * (a + 2*n + 1))
		d = 1 / awayFromZero(1+odd*d)
		c = awayFromZero(1 + odd/c)
		h *= c * d
		if math.Abs(c*d-1) < 1e-16 {
			break
		}
	}
	return h
}

func awayFromZero(x float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
