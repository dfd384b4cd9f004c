package fit

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Counts says that targets are counts whose logarithmic rate is Offset plus the
// field. Its Law is "poisson" or "negative-binomial"; the latter's size is
// learned.
type Counts struct {
	Law    string
	Offset float64
}

// Sites are those of the exact expectation, which can overshoot far from the
// optimum: a share of new ones is mixed with the old, firstMix at first, halved
// when the expected likelihood falls, down to leastMix. The first boundSweeps
// sweeps take the sites of a bound of the negative binomial instead, of size
// boundSize for a Poisson: they never overshoot, and come slowly to the end where
// counts are large.
const (
	firstMix    = 0.5
	leastMix    = 0.05
	boundSweeps = 5
	boundSize   = 5
)

// countData is what stands in for Gaussian observations where targets are
// counts: sites, a target and a precision each, taken anew from the field's
// moments after every term. The noise is then 1.
type countData struct {
	Counts
	y, w           []float32 // counts and their weights
	mean, variance []float32 // of the logarithmic rate
	bound          float64   // summed expected log likelihood
}

func (c *countData) poisson() bool { return c.Law == "poisson" }

// law returns the law at the learned size.
func (d *data) law() likelihood.NegativeBinomial {
	return likelihood.NegativeBinomial{Size: float64(d.size[0])}
}

// startCounts makes room for sites, which take the place of targets and weights.
func (d *data) startCounts(c Counts) {
	n := len(d.y)
	d.tally = &countData{Counts: c, y: d.y, w: d.w, mean: make([]float32, n), variance: make([]float32, n)}
	d.y, d.w = make([]float32, n), make([]float32, n)
}

// refreshSites takes the sites anew from the terms' moments and notes the summed
// expected log likelihood, or the bound of it. fresh drops the old ones.
func (a *cavi) refreshSites(fresh bool) {
	c, terms := a.d.tally, a.moments()
	backend.Each(a.d.b, len(c.y), func(i int) {
		m, v := a.d.field.Combine(terms, i)
		c.mean[i], c.variance[i] = float32(m+c.Offset), float32(v)
	})
	out := likelihood.Sites{Target: a.rest, Precision: make([]float32, len(c.y))}
	each := func(n int, work func(i int)) { backend.Each(a.d.b, n, work) }
	mix := 1.0
	switch {
	case c.poisson():
		c.bound = likelihood.Poisson{}.Sites(c.cells(), out, each)
		if a.bounded() {
			likelihood.NegativeBinomial{Size: boundSize}.Bound(c.cells(), out, each)
		}
	case a.bounded():
		c.bound = a.d.law().Bound(c.cells(), out, each)
	default:
		c.bound = a.d.law().Sites(c.cells(), out, each)
	}
	if !a.bounded() && !fresh {
		mix = a.run.Rate
	}
	offset := float32(c.Offset)
	for i, p := range out.Precision {
		t := out.Target[i] - offset
		if mix < 1 {
			// Natural parameters mix: the precision, and its product with the target.
			p0, p1 := (1-float32(mix))*a.d.w[i], float32(mix)*p
			if p = p0 + p1; p > 0 {
				t = (p0*a.d.y[i] + p1*t) / p
			}
		}
		a.d.y[i], a.d.w[i] = t, p
	}
}

// bounded tells whether the sweep in work takes its sites from a bound.
func (a *cavi) bounded() bool { return a.run.Sweep < boundSweeps }

func (c *countData) cells() likelihood.Cells {
	return likelihood.Cells{Y: c.y, Mean: c.mean, Variance: c.variance, Weight: c.w}
}

// sizeHalvings is how often a step of the size is halved before it is given up.
const sizeHalvings = 5

// learnSize moves the size of the negative binomial towards where the expected
// log likelihood is largest, as far as the bound that the sites are taken from,
// which has its top a little beside, does not fall.
func (a *cavi) learnSize() {
	c := a.d.tally
	if c.poisson() {
		return
	}
	each := func(n int, work func(i int)) { backend.Each(a.d.b, n, work) }
	unused := likelihood.Sites{Target: a.rest, Precision: make([]float32, len(c.y))}
	best, _ := a.d.law().FitSize(c.cells(), each)
	if !a.bounded() {
		a.d.size[0] = float32(best.Size)
		return
	}
	now, floor := float64(a.d.size[0]), a.d.law().Bound(c.cells(), unused, each)
	step := math.Log(best.Size / now)
	for range sizeHalvings {
		a.d.size[0] = float32(now * math.Exp(step))
		if a.d.law().Bound(c.cells(), unused, each) >= floor {
			return
		}
		step /= 2
	}
	a.d.size[0] = float32(now)
}

// deviance returns the mean negative log likelihood of validation data at the
// field's mean.
func (d *data) deviance(mean []float32) float64 {
	sum, total := 0.0, 0.0
	for i, y := range d.validY {
		w, f := weightAt(d.validW, i), float64(mean[i])+d.tally.Offset
		p := d.law().LogProb(float64(y), f)
		if d.tally.poisson() {
			p = likelihood.Poisson{}.LogProb(float64(y), f)
		}
		sum -= w * p
		total += w
	}
	return sum / total
}

// validCounts is validLoss for counts.
func (d *data) validCounts() float64 {
	if d.validChunk == nil {
		return math.NaN()
	}
	d.field.Eval(d.b, tt.Moments{Mean: d.validMean}, d.validChunk)
	return d.deviance(d.validMean)
}
