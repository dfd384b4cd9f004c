package likelihood

import "math"

// Expectations over a normal variable by the trapezoid rule. For softplus, whose nearest
// singularities lie at +-i pi, its error falls as exp(-2 pi^2/(h s)), s the standard
// deviation and h the step in units of it: so h = 3/4 for s <= 1 and half of that for
// each doubling of s keeps it below 1e-7, with 19 nodes at s <= 1; one exponential
// and products serve them all. The nodes of Gauss and Hermite would have to grow with
// s^2: 20 of them are off by 1e-4 at s = 2 and 5e-3 at s = 3. Where s is small, though,
// seven are enough.
const (
	smallSD    = 0.4
	widestStep = 0.75
	levels     = 5  // steps 3/4, 3/8, ... for s <= 1, 2, ...
	highestSD  = 16 // = 1 << (levels-1): a field that spreads over exp(+-16) knows nothing; v above is taken as 256
	tail       = 6  // nodes reach this many deviations past the integrand's peak
)

// normalWeights[j][k] is h phi(k h), h = widestStep / 2^j.
var normalWeights = trapezoid()

func trapezoid() (weights [levels][]float64) {
	for j := range weights {
		h := math.Ldexp(widestStep, -j)
		reach := float64(int(1)<<j) + tail // a peak lies at most one s from the centre
		weights[j] = make([]float64, int(reach/h)+2)
		for k := range weights[j] {
			z := float64(k) * h
			weights[j][k] = h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
		}
	}
	return weights
}

// The seven nodes of Gauss and Hermite for a standard normal: the centre, then pairs.
var (
	hermiteNodes   = [...]float64{0, 1.154405394739968, 2.3667594107345415, 3.750439717725742}
	hermiteWeights = [...]float64{0.4571428571428571, 0.24012317860501267, 0.030757123967586467, 0.0005482688559722186}
)

// softplus returns E[log(1+exp psi)], E[sigma(psi)] and E[sigma(psi)(1-sigma(psi))] over
// psi ~ N(mu, v), sigma(x) = 1/(1+exp(-x)); each to a relative 1e-7.
//
// Nodes z and -z share a logarithm and a division: with p, q = exp(mu +- s z), a =
// p + q and b = pq = exp(2 mu),
//
//	log(1+p) + log(1+q) = log1p(a + b)
//	sigma + sigma       = (a + 2b) / (1+a+b)
//	sigma(1-sigma) + .. = (a + 4b + ab) / (1+a+b)^2
//
// Reflecting mu to the negative side keeps all of them in range.
func softplus(mu, v float64) (s0, s1, s2 float64) {
	s := math.Sqrt(min(max(v, 0), highestSD*highestSD))
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
		h := math.Ldexp(widestStep, -level)
		// The integrand is phi(z) exp(mu + s z), peaked at z = s, until it bends at
		// z = -mu/s.
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
