package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Likelihood states that targets have a distribution other than the Gaussian. Its
// argument is Offset plus the field, and for counts plus the logarithm of the exposure.
// The parameters of the law are learned.
type Likelihood struct {
	Law    likelihood.Law
	Offset float64
}

// Each observation is approximated by a Gaussian site. Sites of the exact expected log
// likelihood can overshoot far from the optimum. They are therefore damped: a share
// of the new site is mixed with the old one. The share starts at firstMix and is
// halved, down to leastMix, when the expected likelihood decreases. The first
// boundSweeps sweeps use the sites of a lower bound instead. They never overshoot, but
// converge slowly for large counts.
const (
	firstMix    = 0.5
	leastMix    = 0.05
	boundSweeps = 5
)

// sites holds the observations and the moments from which their sites are computed.
// A site is a target and a precision that replace a Gaussian observation; sites are
// updated after every term, or some times per sweep if there are many. The noise variance is then 1.
type sites struct {
	Likelihood
	cells   likelihood.Cells // observations with mean and variance of the law's argument
	offsets []float32        // of the observations
	bound   float64          // summed expected log likelihood
}

// offset returns what is added to the field at observation i.
func (l *Likelihood) offset(exposure []float32, i int) float64 {
	if exposure == nil {
		return l.Offset
	}
	return l.Offset + math.Log(float64(exposure[i]))
}

// law returns the likelihood with the learned parameters.
func (d *data) law() likelihood.Law {
	p := make([]float64, len(d.parameters))
	for i, v := range d.parameters {
		p[i] = float64(v)
	}
	return d.sites.Law.At(p)
}

func (d *data) setLaw(l likelihood.Law) {
	for i, v := range l.Parameters() {
		d.parameters[i] = float32(v)
	}
}

// startSites allocates the sites, which replace targets and weights.
func (d *data) startSites(l Likelihood) {
	n := len(d.y)
	cells := likelihood.Cells{Y: d.y, Weight: d.w, Censored: d.censored, Mean: backend.Make[float32](d.b, n), Variance: backend.Make[float32](d.b, n)}
	d.sites = &sites{Likelihood: l, cells: cells, offsets: backend.Make[float32](d.b, n)}
	backend.ParallelFor(d.b, n, func(i int) { d.sites.offsets[i] = float32(l.offset(d.exposure, i)) })
	d.parameters = make([]float32, len(l.Law.Parameters()))
	d.y, d.w = backend.Make[float32](d.b, n), backend.Make[float32](d.b, n)
}

// refreshSites computes the sites from the moments of the terms, and the summed
// expected log likelihood or its bound. fresh discards the old sites.
func (a *cavi) refreshSites(fresh bool) {
	s, terms := a.d.sites, a.moments()
	backend.ParallelFor(a.d.b, len(a.d.y), func(i int) {
		m, v := a.d.field.Combine(terms, i)
		s.cells.Mean[i], s.cells.Variance[i] = float32(m+float64(s.offsets[i])), float32(v)
	})
	out := a.siteSpace()
	mix := 1.0
	if a.usesBound() {
		s.bound = a.d.law().Bound(s.cells, out, a.each)
	} else {
		s.bound = a.d.law().Sites(s.cells, out, a.each)
		if !fresh && s.Law.Damped() {
			mix = a.run.Rate
		}
	}
	backend.ParallelFor(a.d.b, len(out.Precision), func(i int) {
		p, t := out.Precision[i], out.Target[i]-s.offsets[i]
		if mix < 1 {
			// The natural parameters are mixed: the precision, and its product with the target.
			p0, p1 := (1-float32(mix))*a.d.w[i], float32(mix)*p
			if p = p0 + p1; p > 0 {
				t = (p0*a.d.y[i] + p1*t) / p
			}
		}
		a.d.y[i], a.d.w[i] = t, p
	})
}

// siteRefreshes is the number of times per sweep that sites are computed at most. They cost more than the update of an
// effect, and those of some terms before lead to the same optimum.
const siteRefreshes = 6

// refreshesAfter reports whether sites are computed after the update of term k: always after the last.
func (a *cavi) refreshesAfter(k int) bool {
	n := len(a.terms) + len(a.d.series)
	return n <= siteRefreshes || (k+1)*siteRefreshes/n > k*siteRefreshes/n
}

func (a *cavi) each(n int, work func(i int)) { backend.ParallelFor(a.d.b, n, work) }

// siteSpace returns memory for sites.
func (a *cavi) siteSpace() likelihood.Sites {
	return likelihood.Sites{Target: a.obs.Scratch(), Precision: make([]float32, len(a.d.y))}
}

// usesBound reports whether the current sweep takes its sites from the bound.
func (a *cavi) usesBound() bool { return a.run.Sweep < boundSweeps }

// lawHalvings is how often a step of the parameters is halved before it is abandoned.
const lawHalvings = 5

// learnLaw moves the parameters of the likelihood towards the maximum of the expected
// log likelihood. While the sites come from the bound, whose maximum is slightly
// different, a step must not decrease the bound.
func (a *cavi) learnLaw() {
	now := a.d.law()
	start := now.Parameters()
	if len(start) == 0 {
		return
	}
	cells := a.d.sites.cells
	best := now.Learn(cells, a.each)
	if !a.usesBound() {
		a.d.setLaw(best)
		return
	}
	floor, end, step := now.Bound(cells, a.siteSpace(), a.each), best.Parameters(), 1.0
	for range lawHalvings {
		try := make([]float64, len(start))
		for i := range try {
			try[i] = start[i] + step*(end[i]-start[i])
		}
		a.d.setLaw(now.At(try))
		if a.d.law().Bound(cells, a.siteSpace(), a.each) >= floor {
			return
		}
		step /= 2
	}
	a.d.setLaw(now)
}

// negativeLogLikelihood returns the mean negative log likelihood of the validation
// set at the given mean of the field.
func (d *data) negativeLogLikelihood(mean []float32) float64 {
	law := d.law()
	type sums struct{ loss, weight float64 }
	s := parallel.Reduce(d.b.Threads(), len(d.validY), func(from, to int) (s sums) {
		for i := from; i < to; i++ {
			w, f := weightAt(d.validW, i), float64(mean[i])+d.sites.offset(d.validExposure, i)
			p := law.LogProb
			if d.validCensored != nil && d.validCensored[i] > 0 {
				p = law.(likelihood.Censored).LogAbove
			}
			s.loss -= w * p(float64(d.validY[i]), f)
			s.weight += w
		}
		return s
	}, func(a, b sums) sums { return sums{a.loss + b.loss, a.weight + b.weight} })
	return s.loss / s.weight
}

// validSiteLoss is validLoss for a likelihood with sites.
func (d *data) validSiteLoss() float64 {
	if d.validChunk == nil {
		return math.NaN()
	}
	d.field.Eval(d.b, tt.Moments{Mean: d.validMean}, d.validChunk)
	return d.negativeLogLikelihood(d.validMean)
}
