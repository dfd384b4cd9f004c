package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A rectified function y(g) is constant below the bound and, above it, a polynomial or
// exp(g) + constant. The slopes are the first three derivatives at the bound, from above;
// the exponential needs none.
type rectified struct {
	bound       float64
	slope       [3]float64
	exponential bool
}

// rectified returns the inverse of the transform with its lower bound, or with 0 as the
// bound if the distribution is clamped. It is not defined for powers.
func (d *Distribution) rectified() rectified {
	switch {
	case d.transform.Kind() == targetscale.KindLog1p:
		return rectified{exponential: true}
	case d.transform.Kind() == targetscale.KindSqrt:
		return rectified{slope: [3]float64{0, 2, 0}}
	case d.transform.Kind() == targetscale.KindCbrt1p && d.clamped:
		return rectified{bound: 1, slope: [3]float64{3, 6, 6}}
	case d.transform.Kind() == targetscale.KindCbrt1p:
		return rectified{slope: [3]float64{0, 0, 6}}
	}
	return rectified{slope: [3]float64{1, 0, 0}}
}

// maxSeries limits the share of the model in the variance for which
// smoothVariance is used: terms decrease as powers of the share, and at the limit
// seriesTerms of them leave less than 1e-7 of the sum.
const (
	maxSeries   = 0.6
	seriesTerms = 32
)

// seriesRoot[k] is 1/sqrt(k), and seriesRatio[k] is sqrt((k-1)/k).
var seriesRoot, seriesRatio = func() (root, ratio [seriesTerms + 1]float64) {
	for k := 1; k < len(root); k++ {
		root[k] = 1 / math.Sqrt(float64(k))
		ratio[k] = math.Sqrt(float64(k-1) / float64(k))
	}
	return
}()

// smoothVariance returns Var(E[y|f]) for y = y(f + e), f ~ N(m, v) and
// e ~ N(0, w - v), as the sum over its Hermite terms
//
//	sum over k of v^k/k! (E y^(k))^2,
//
// with the expectation over f + e ~ N(m, w) of the k-th derivative of y. At the bound b
// the first derivative jumps, so the further ones contain the densities
// E delta^(j)(g - b) = s^(-j-1) He_j(z) phi(z), with s^2 = w and z = (b - m)/s. The caller
// has P(g > b) = Phi(-z) and phi(z). It costs O(1) per term, at most seriesTerms.
func (r rectified) smoothVariance(m, v, w, above, density float64) float64 {
	s := math.Sqrt(w)
	z := (r.bound - m) / s
	share := v / w
	root := math.Sqrt(share)
	// Expectations of the derivatives for g > b, and their factors in the sum.
	var interior [4]float64
	if r.exponential {
		interior[1] = math.Exp(m+w/2) * normalCDF(s-z)
	} else {
		first := m*above + s*density                    // E[g; g > b]
		second := m*first + w*above + s*r.bound*density // E[g^2; g > b]
		// The derivatives are polynomials with the Taylor coefficients slope at b.
		c1, c2, c3 := r.slope[0], r.slope[1], r.slope[2]
		b := r.bound
		interior[1] = (c1-c2*b+c3*b*b/2)*above + (c2-c3*b)*first + c3/2*second
		interior[2] = (c2-c3*b)*above + c3*first
		interior[3] = c3 * above
	}
	step := root * s
	term := step * interior[1]
	sum := term * term
	// u[j] is share^(j/2) He_j(z)/sqrt(j!), the last three of them.
	var before, before2 float64
	u := 1.0
	edge := share * s * density
	scale2, scale3 := edge*step*r.slope[1], edge*step*step*r.slope[2]
	edge1 := edge * r.slope[0]
	power := step * step * seriesRoot[2] // step^k/sqrt(k!)
	quiet := 0
	for k := 2; k <= seriesTerms; k++ {
		pair := seriesRoot[k] * seriesRoot[k-1]
		if r.exponential {
			term = step*seriesRoot[k]*term + edge*u*pair
		} else {
			term = edge1 * u * pair
			if k <= 3 {
				term += power * interior[k]
				power *= step * seriesRoot[k+1]
			}
			if k > 2 {
				triple := pair * seriesRoot[k-2]
				term += scale2 * before * triple
				if k > 3 {
					term += scale3 * before2 * triple * seriesRoot[k-3]
				}
			}
		}
		sum += term * term
		// Two small terms in a row: one alone may be near a zero of a polynomial.
		if term*term <= 1e-9*sum {
			if quiet++; quiet == 3 {
				break
			}
		} else {
			quiet = 0
		}
		// u becomes u[k-1] from u[k-2].
		before2, before, u = before, u, root*seriesRoot[k-1]*z*u-share*seriesRatio[k-1]*before
	}
	return sum
}
