package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Counts states that targets are counts with log rate Offset plus the field, and plus the
// logarithm of their exposure.
// Distribution is "poisson" or "negative-binomial"; the size of the latter is
// learned.
type Counts struct {
	Distribution string
	Offset       float64
}

// Each count is approximated by a Gaussian site. Sites of the exact expected log
// likelihood can overshoot far from the optimum. They are therefore damped: a share
// of the new site is mixed with the old one. The share starts at firstMix and is
// halved, down to leastMix, when the expected likelihood decreases. The first
// boundSweeps sweeps use the sites of a lower bound of the negative binomial
// instead, with size boundSize for Poisson counts. They never overshoot, but
// converge slowly for large counts.
const (
	firstMix    = 0.5
	leastMix    = 0.05
	boundSweeps = 5
	boundSize   = 5
)

// countSites holds the counts and the moments from which their sites are computed.
// A site is a target and a precision that replace a Gaussian observation; sites are
// updated after every term. The noise variance is then 1.
type countSites struct {
	Counts
	y, w           []float32 // counts and their weights
	exposure       []float32 // nil means 1
	mean, variance []float32 // of the log rate
	bound          float64   // summed expected log likelihood
}

// offset returns what is added to the field to give the logarithm of the expected
// count i: the offset and the logarithm of the exposure.
func (c *Counts) offset(exposure []float32, i int) float64 {
	if exposure == nil {
		return c.Offset
	}
	return c.Offset + math.Log(float64(exposure[i]))
}

func (c *countSites) isPoisson() bool { return c.Distribution == "poisson" }

// negativeBinomial returns the distribution with the learned size.
func (d *data) negativeBinomial() likelihood.NegativeBinomial {
	return likelihood.NegativeBinomial{Size: float64(d.size[0])}
}

// startCounts allocates the sites, which replace targets and weights.
func (d *data) startCounts(c Counts) {
	n := len(d.y)
	d.countSites = &countSites{Counts: c, y: d.y, w: d.w, exposure: d.exposure, mean: make([]float32, n), variance: make([]float32, n)}
	d.y, d.w = make([]float32, n), make([]float32, n)
}

// refreshSites computes the sites from the moments of the terms, and the summed
// expected log likelihood or its bound. fresh discards the old sites.
func (a *cavi) refreshSites(fresh bool) {
	c, terms := a.d.countSites, a.moments()
	backend.ParallelFor(a.d.b, len(c.y), func(i int) {
		m, v := a.d.field.Combine(terms, i)
		c.mean[i], c.variance[i] = float32(m+c.offset(c.exposure, i)), float32(v)
	})
	out := likelihood.Sites{Target: a.target, Precision: make([]float32, len(c.y))}
	each := func(n int, work func(i int)) { backend.ParallelFor(a.d.b, n, work) }
	mix := 1.0
	switch {
	case c.isPoisson():
		c.bound = likelihood.Poisson{}.Sites(c.cells(), out, each)
		if a.usesBound() {
			likelihood.NegativeBinomial{Size: boundSize}.Bound(c.cells(), out, each)
		}
	case a.usesBound():
		c.bound = a.d.negativeBinomial().Bound(c.cells(), out, each)
	default:
		c.bound = a.d.negativeBinomial().Sites(c.cells(), out, each)
	}
	if !a.usesBound() && !fresh {
		mix = a.run.Rate
	}
	for i, p := range out.Precision {
		t := out.Target[i] - float32(c.offset(c.exposure, i))
		if mix < 1 {
			// The natural parameters are mixed: the precision, and its product with the target.
			p0, p1 := (1-float32(mix))*a.d.w[i], float32(mix)*p
			if p = p0 + p1; p > 0 {
				t = (p0*a.d.y[i] + p1*t) / p
			}
		}
		a.d.y[i], a.d.w[i] = t, p
	}
}

// usesBound reports whether the current sweep takes its sites from the bound.
func (a *cavi) usesBound() bool { return a.run.Sweep < boundSweeps }

func (c *countSites) cells() likelihood.Cells {
	return likelihood.Cells{Y: c.y, Mean: c.mean, Variance: c.variance, Weight: c.w}
}

// sizeHalvings is how often a step of the size is halved before it is abandoned.
const sizeHalvings = 5

// learnSize moves the size of the negative binomial towards the maximum of the
// expected log likelihood. While the sites come from the bound, whose maximum is
// slightly different, a step must not decrease the bound.
func (a *cavi) learnSize() {
	c := a.d.countSites
	if c.isPoisson() {
		return
	}
	each := func(n int, work func(i int)) { backend.ParallelFor(a.d.b, n, work) }
	unused := likelihood.Sites{Target: a.target, Precision: make([]float32, len(c.y))}
	best, _ := a.d.negativeBinomial().FitSize(c.cells(), each)
	if !a.usesBound() {
		a.d.size[0] = float32(best.Size)
		return
	}
	now, floor := float64(a.d.size[0]), a.d.negativeBinomial().Bound(c.cells(), unused, each)
	step := math.Log(best.Size / now)
	for range sizeHalvings {
		a.d.size[0] = float32(now * math.Exp(step))
		if a.d.negativeBinomial().Bound(c.cells(), unused, each) >= floor {
			return
		}
		step /= 2
	}
	a.d.size[0] = float32(now)
}

// negativeLogLikelihood returns the mean negative log likelihood of the validation
// set at the given mean of the field.
func (d *data) negativeLogLikelihood(mean []float32) float64 {
	sum, total := 0.0, 0.0
	for i, y := range d.validY {
		w, f := weightAt(d.validW, i), float64(mean[i])+d.countSites.offset(d.validExposure, i)
		p := d.negativeBinomial().LogProb(float64(y), f)
		if d.countSites.isPoisson() {
			p = likelihood.Poisson{}.LogProb(float64(y), f)
		}
		sum -= w * p
		total += w
	}
	return sum / total
}

// validCountLoss is validLoss for counts.
func (d *data) validCountLoss() float64 {
	if d.validChunk == nil {
		return math.NaN()
	}
	d.field.Eval(d.b, tt.Moments{Mean: d.validMean}, d.validChunk)
	return d.negativeLogLikelihood(d.validMean)
}
