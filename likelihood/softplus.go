package likelihood

import "math"

// Expectations over a normal variable by the trapezoidal rule. For softplus,
// whose nearest singularities are at +-i pi, its error decreases as exp(-2
// pi^2/(h s)), where s is the standard deviation and h the step in units of it.
// So h = 3/4 for s <= 1, halved for each doubling of s, keeps it below 1e-7.
// That takes 19 nodes at s <= 1, which share one exponential. The number of
// Gauss-Hermite nodes would have to grow with s^2: 20 of them have errors of
// 1e-4 at s = 2 and 5e-3 at s = 3. For small s, though, seven are enough.
const (
	smallVariance = 0.06
	smallSD       = 0.4
	maxStep       = 0.75
	levels        = 5  // steps 3/4, 3/8, ... for s <= 1, 2, ...
	maxSD         = 16 // = 1 << (levels-1): a larger v is replaced by 256, since an uncertainty of exp(+-16) is no information anyway
	tail          = 6  // nodes extend this many deviations past the peak of the integrand
)

// normalWeights[j][k] is h phi(k h), h = maxStep / 2^j.
var normalWeights = trapezoid()

func trapezoid() (weights [levels][]float64) {
	for j := range weights {
		h := math.Ldexp(maxStep, -j)
		reach := float64(int(1)<<j) + tail // a peak is at most one s from the centre
		weights[j] = make([]float64, int(reach/h)+2)
		for k := range weights[j] {
			z := float64(k) * h
			weights[j][k] = h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		}
	}
	return weights
}

// The seven Gauss-Hermite nodes for a standard normal: the centre, then pairs.
var (
	hermiteNodes   = [...]float64{0, 1.154405394739968, 2.3667594107345415, 3.750439717725742}
	hermiteWeights = [...]float64{0.4571428571428571, 0.24012317860501267, 0.030757123967586467, 0.0005482688559722186}
)

// softplus returns E[log(1+exp psi)], E[sigma(psi)] and
// E[sigma(psi)(1-sigma(psi))] over psi ~ N(mu, v), sigma(x) = 1/(1+exp(-x)),
// each with a relative error of 1e-7.
//
// Nodes z and -z share a logarithm and a division: with p, q = exp(mu +- s z),
// a = p + q and b = pq = exp(2 mu),
//
//	log(1+p) + log(1+q) = log1p(a + b)
//	sigma + sigma       = (a + 2b) / (1+a+b)
//	sigma(1-sigma) + .. = (a + 4b + ab) / (1+a+b)^2
//
// Reflecting mu to the negative side keeps all of them in range.
func softplus(mu, v float64) (s0, s1, s2 float64) {
	if v <= smallVariance {
		return softplusSeries(mu, max(v, 0))
	}
	s := math.Sqrt(min(max(v, 0), maxSD*maxSD))
	low := max(-math.Abs(mu), -600)
	p := math.Exp(low)
	centre, b := p, p*p
	q := p

	weights, up, down := hermiteWeights[:], 0.0, 0.0
	if s > smallSD {
		level := 0
		for s > float64(int(1)<<level) {
			level++
		}
		h := math.Ldexp(maxStep, -level)
		// The integrand is phi(z) exp(mu + s z), with its peak at z = s, up to
		// z = -mu/s where it bends.
		peak := min(s, -low/s)
		weights = normalWeights[level][:int((peak+tail)/h)+2]
		up = math.Exp(s * h)
		down = 1 / up
	}
	r := 1 / (1 + p)
	s0, s1, s2 = weights[0]*math.Log1p(p), weights[0]*p*r, weights[0]*p*r*r
	for k, w := range weights[1:] {
		if s > smallSD {
			p *= up
			q *= down
		} else {
			ratio := math.Exp(s * hermiteNodes[k+1])
			p, q = centre*ratio, centre/ratio
		}
		a := p + q
		r := 1 / (1 + a + b)
		s0 += w * math.Log1p(a+b)
		s1 += w * ((a + 2*b) * r)
		s2 += w * ((a + 4*b + a*b) * r * r)
	}
	if mu > 0 {
		return mu + s0, 1 - s1, s2
	}
	return s0, s1, s2
}

// softplusSeries is softplus for v <= smallVariance, by the series E[f(psi)] = sum_k v^k/(2^k k!) f^(2k)(mu). With
// q = sigma(1-sigma), all even derivatives of log(1+exp) are polynomials in q, because (q^n)” = n^2 q^n - (4n^2+2n) q^(n+1),
// and the odd ones follow from (q^n)' = n q^n (1 - 2 sigma). The term after the last, v^5/3840 f^(12), is below 1e-7 of s2.
func softplusSeries(mu, v float64) (s0, s1, s2 float64) {
	p := math.Exp(-math.Abs(mu))
	r := 1 / (1 + p)
	sigma, q := p*r, p*r*r // sigma(-|mu|)
	c1 := v / 2
	c2, c3, c4 := c1*c1/2, c1*c1*c1/6, c1*c1*c1*c1/24
	f4 := 1 - 6*q
	f6 := 1 - q*(30-120*q)
	f8 := 1 - q*(126-q*(1680-5040*q))
	f10 := 1 - q*(510-q*(17640-q*(151200-362880*q)))
	s0 = math.Log1p(p) + q*(c1+c2*f4+c3*f6+c4*f8)
	s1 = sigma + q*(r-sigma)*(c1+c2*(1-12*q)+c3*(1-q*(60-360*q))+c4*(1-q*(252-q*(5040-20160*q))))
	s2 = q * (1 + c1*f4 + c2*f6 + c3*f8 + c4*f10)
	if mu > 0 {
		return mu + s0, 1 - s1, s2
	}
	return s0, s1, s2
}
