package calibrate

import "math"

// A CountLaw is the distribution of a count y = 0, 1, ... given the field f, with
// log link: Poisson or negative binomial. It must be of the class whose
// probabilities follow P(y+1)/P(y) = a + b/(y+1), which these two are, and its
// CDF must fall in f.
type CountLaw interface {
	LogProb(y, f float64) float64 // log P(y | f)
	CDF(y, f float64) float64     // P(y or less | f)
	Mean(f float64) float64       // exp(f)
	Var(f float64) float64
}

// Count returns the predictive of a count: the law mixed over f ~ N(m, v).
func Count(law CountLaw, m, v float64) Predictive {
	return Predictive{m: m, model: v, sd: math.Sqrt(v), law: standard, count: law}
}

// mixtureCDF returns E[P(y or less | f)]. In f that probability falls from 1 to 0
// around log y over a width of sd/mean of the count, which is far narrower than
// the spread of f for large counts: the integral is taken over the fall alone.
func (p Predictive) mixtureCDF(y float64) float64 {
	if y < 0 {
		return 0
	}
	if p.sd < leastSD {
		return p.count.CDF(y, p.m)
	}
	low, high, feature := p.fall(y)
	if low >= high {
		return normalCDF(low)
	}
	// A panel of the rule resolves so much of a product of the normal density
	// and a fall as wide as feature, both as sharp as bells.
	panels := math.Ceil((high - low) / 2 / (7.4 / math.Sqrt(1+1/(feature*feature))))
	half := (high - low) / 2 / panels
	sum := 0.0
	for centre := low + half; centre < high; centre += 2 * half {
		for i, x := range legendreX {
			t := centre + half*x
			sum += legendreW[i] * normalDensity(t) * p.count.CDF(y, p.m+p.sd*t)
		}
	}
	return min(normalCDF(low)+half*sum, 1)
}

// fall returns the part of the normal scores of f where the probability of y or
// less is neither 1 nor 0, and the width of its sharpest feature.
func (p Predictive) fall(y float64) (low, high, feature float64) {
	const reach = 6.5
	centre := math.Log(y + 0.6)
	width := math.Sqrt(p.count.Var(centre)) / p.count.Mean(centre)
	// A narrow fall is that of a normal distribution; a wide one, of small counts
	// and small sizes, has long tails and a sharp shoulder.
	widths, sharp := 6.0, 1.0
	if width > 0.3 {
		widths, sharp = 14, 0.5
	}
	if width > 1 {
		sharp /= width
	}
	low = (centre - widths*width - p.m) / p.sd
	high = (centre + widths*width - p.m) / p.sd
	return min(max(low, -reach), reach), min(max(high, -reach), reach), sharp * width / p.sd
}

// mixtureLogProb returns log E[P(y | f)]. The integrand has one peak, between the
// mean of f and log y; the integral is taken over its width.
func (p Predictive) mixtureLogProb(y float64) float64 {
	if y < 0 || y != math.Floor(y) {
		return math.Inf(-1)
	}
	if p.sd < leastSD {
		return p.count.LogProb(y, p.m)
	}
	logIntegrand := func(t float64) float64 { return p.count.LogProb(y, p.m+p.sd*t) - t*t/2 - logSqrt2Pi }
	// LogProb is concave in f, so golden section finds the peak.
	a, b := -reachOf(y, p), reachOf(y, p)
	const golden = 0.6180339887498949
	c, d := b-golden*(b-a), a+golden*(b-a)
	fc, fd := logIntegrand(c), logIntegrand(d)
	for range 24 {
		if fc > fd {
			b, d, fd = d, c, fc
			c = b - golden*(b-a)
			fc = logIntegrand(c)
		} else {
			a, c, fc = c, d, fd
			d = a + golden*(b-a)
			fd = logIntegrand(d)
		}
	}
	peak := (a + b) / 2
	top := logIntegrand(peak)
	// Curvature: 1 from the normal, and from the law no more than y or so.
	centre := p.m + p.sd*peak
	mean := p.count.Mean(centre)
	half := 9 / math.Sqrt(1+p.sd*p.sd*mean*mean/p.count.Var(centre))
	sum := 0.0
	for i, x := range legendreX {
		sum += legendreW[i] * math.Exp(logIntegrand(peak+half*x)-top)
	}
	return top + math.Log(half*sum)
}

// reachOf returns how far from 0 the peak's normal score can lie.
func reachOf(y float64, p Predictive) float64 {
	return math.Abs(math.Log(y+0.1)-p.m)/p.sd + 1
}

func (p Predictive) countLogDensity(y float64) float64 {
	if p.law.n == 0 {
		return p.mixtureLogProb(y)
	}
	if y < 0 || y != math.Floor(y) {
		return math.Inf(-1)
	}
	below, upto := p.levels(y)
	return math.Log(upto - below)
}

// countMoments returns mean, Var(E[y|f]) and E[Var(y|f)].
func (p Predictive) countMoments() (mean, model, noise float64) {
	var total float64
	for i, t := range nodeT {
		f := p.m + p.sd*t
		w := nodeWeight[i]
		total += w
		mean += w * p.count.Mean(f)
		noise += w * p.count.Var(f)
	}
	mean /= total
	for i, t := range nodeT {
		d := p.count.Mean(p.m+p.sd*t) - mean
		model += nodeWeight[i] * d * d
	}
	return mean, model / total, noise / total
}

// legendreX and legendreW are the Gauss-Legendre rule on [-1, 1].
var legendreX, legendreW = func() (x, w [24]float64) {
	n := len(x)
	for i := range n {
		// Newton's method on the Legendre polynomial, from the usual guess.
		r := math.Cos(math.Pi * (float64(i) + 0.75) / (float64(n) + 0.5))
		var slope float64
		for range 50 {
			before, now := 1.0, r
			for k := 2; k <= n; k++ {
				before, now = now, (float64(2*k-1)*r*now-float64(k-1)*before)/float64(k)
			}
			slope = float64(n) * (r*now - before) / (r*r - 1)
			step := now / slope
			r -= step
			if math.Abs(step) < 1e-16 {
				break
			}
		}
		x[i] = r
		w[i] = 2 / ((1 - r*r) * slope * slope)
	}
	return
}()
