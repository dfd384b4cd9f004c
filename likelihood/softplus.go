package likelihood

import "math"

// Expectations over a normal variable with a variance of tableVariance or more, by the
// trapezoidal rule; a table has those of smaller ones. For softplus, whose nearest
// singularities are at +-i pi, its error decreases as exp(-2 pi^2/(h s)), where s is the
// standard deviation and h the step in units of it. So h = 3/4 for s <= 1, halved for each
// doubling of s, keeps it below 1e-7. That takes 19 nodes at s <= 1, which share one
// exponential. The number of Gauss-Hermite nodes would have to grow with s^2: 20 of them
// have errors of 1e-4 at s = 2 and 5e-3 at s = 3.
const (
	maxStep = 0.75
	levels  = 5  // steps 3/4, 3/8, ... for s <= 1, 2, ...
	maxSD   = 16 // = 1 << (levels-1): a larger v is replaced by 256, since an uncertainty of exp(+-16) is no information anyway
	tail    = 6  // nodes extend this many deviations past the peak of the integrand
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

// The seven Gauss-Hermite nodes for a standard normal, for other expectations with a standard
// deviation of about smallSD: the centre, then pairs.
const smallSD = 0.4

var (
	hermiteNodes   = [...]float64{0, 1.154405394739968, 2.3667594107345415, 3.750439717725742}
	hermiteWeights = [...]float64{0.4571428571428571, 0.24012317860501267, 0.030757123967586467, 0.0005482688559722186}
)

// softplus returns E[log(1+exp psi)], E[sigma(psi)] and
// E[sigma(psi)(1-sigma(psi))] over psi ~ N(mu, v), sigma(x) = 1/(1+exp(-x)),
// each with a relative error of 1e-7. It takes some 10 ns at v < 1, with two exponentials
// at |mu| > 9, and some ten logarithms at v = 1.
func softplus(mu, v float64) (s0, s1, s2 float64) {
	switch low := -math.Abs(mu); {
	case !(v < tableVariance):
		s0, s1, s2 = softplusSum(max(low, -600), v)
	case low > tableMean:
		s0, s1, s2 = softplusTable().at(low, max(v, 0))
	default:
		s0, s1, s2 = softplusTail(max(low, -600), max(v, 0))
	}
	if mu > 0 {
		return mu + s0, 1 - s1, s2
	}
	return s0, s1, s2
}

// softplusSum is softplus for mu <= 0 by the trapezoidal rule. Nodes z and -z share a
// logarithm and a division: with p, q = exp(mu +- s z), a = p + q and b = pq = exp(2 mu),
//
//	log(1+p) + log(1+q) = log1p(a + b)
//	sigma + sigma       = (a + 2b) / (1+a+b)
//	sigma(1-sigma) + .. = (a + 4b + ab) / (1+a+b)^2
//
// They are NaN if mu or v is, as in a fit that diverges.
func softplusSum(mu, v float64) (s0, s1, s2 float64) {
	if none := mu + v; math.IsNaN(none) {
		return none, none, none
	}
	s := math.Sqrt(min(v, maxSD*maxSD))
	p := math.Exp(mu)
	q, b := p, p*p
	level := 0
	for s > float64(int(1)<<level) {
		level++
	}
	h := math.Ldexp(maxStep, -level)
	// The integrand is phi(z) exp(mu + s z), with its peak at z = s, up to
	// z = -mu/s where it bends.
	peak := min(s, -mu/s)
	weights := normalWeights[level][:int((peak+tail)/h)+2]
	up := math.Exp(s * h)
	down := 1 / up
	r := 1 / (1 + p)
	s0, s1, s2 = weights[0]*math.Log1p(p), weights[0]*p*r, weights[0]*p*r*r
	for _, w := range weights[1:] {
		p *= up
		q *= down
		a := p + q
		r := 1 / (1 + a + b)
		s0 += w * math.Log1p(a+b)
		s1 += w * ((a + 2*b) * r)
		s2 += w * ((a + 4*b + a*b) * r * r)
	}
	return s0, s1, s2
}

// softplusTail is softplus for mu <= tableMean and v < tableVariance: the expectations of the
// first three powers of p = exp psi in log(1+p) = p - p^2/2 + ..., p - p^2 + ... and p - 2p^2 + ...
func softplusTail(mu, v float64) (s0, s1, s2 float64) {
	p := math.Exp(mu + v/2)
	spread := math.Exp(v)
	p2 := p * p * spread
	p3 := p2 * p * spread * spread
	return p - p2/2 + p3/3, p - p2 + p3, p - 2*p2 + 3*p3
}
