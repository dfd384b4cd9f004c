package predictive

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/golden"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// A CountDistribution is the distribution of a count y = 0, 1, ... given f, with a
// log link: Poisson or negative binomial, whose mean is exp(f). Its probabilities must
// satisfy P(y+1)/P(y) = a + b/(y+1), its variance is Mean + c Mean^2, and its CDF must
// decrease in f from 1 to 0, unless it is zeroModified.
type CountDistribution interface {
	LogProb(y, f float64) float64 // log P(Y = y | f)
	CDF(y, f float64) float64     // P(Y <= y | f)
	Mean(f float64) float64
	Var(f float64) float64
}

// A zeroModified distribution has any probability of 0, as a function of f that is smooth
// over a unit of f. The probabilities of its counts above 0 are those of its base times a
// function of f.
type zeroModified interface {
	Base() likelihood.NegativeBinomial
}

// base returns the distribution that determines the ratios of the probabilities of counts
// above 0, and whether 0 has another probability.
func (d Distribution) base() (CountDistribution, bool) {
	if z, ok := d.count.(zeroModified); ok {
		return z.Base(), true
	}
	return d.count, false
}

// CountMixture returns the predictive distribution of a count: the given
// distribution mixed over f ~ N(m, v).
func CountMixture(given CountDistribution, m, v float64) Distribution {
	return Distribution{m: m, model: v, sd: math.Sqrt(v), scores: standardNormal, count: given}
}

// mixtureCDF returns E[P(Y <= y | f)]. As a function of f that probability decreases
// from 1 to 0 around log y, over a width of sd/mean of the count. For large counts
// this is far narrower than the spread of f, so the integral covers only the range
// of the decrease.
func (d Distribution) mixtureCDF(y float64) float64 {
	if y < 0 {
		return 0
	}
	if d.sd < minSD {
		return d.count.CDF(y, d.m)
	}
	low, high, feature := d.transition(y)
	if _, modified := d.base(); modified {
		y = min(y, 1e3*maxCount)
		smooth := 1 / d.sd
		return min(d.integrateCDF(y, -mixtureReach, low, smooth)+d.integrateCDF(y, low, high, min(feature, smooth))+d.integrateCDF(y, high, mixtureReach, smooth), 1)
	}
	return min(normalCDF(low)+d.integrateCDF(y, low, high, feature), 1)
}

// integrateCDF integrates the normal density times P(Y <= y | f) over a range of normal
// scores of f, in which the probability has features of the given width.
func (d Distribution) integrateCDF(y, low, high, feature float64) float64 {
	if low >= high {
		return 0
	}
	// The length that one panel of the quadrature rule resolves depends on the width
	// of the product of the normal density and of a transition of width feature.
	panels := math.Ceil((high - low) / 2 / (7.4 / math.Sqrt(1+1/(feature*feature))))
	half := (high - low) / 2 / panels
	sum := 0.0
	for centre := low + half; centre < high; centre += 2 * half {
		for i, x := range legendreX {
			t := centre + half*x
			sum += legendreW[i] * normalDensity(t) * d.count.CDF(y, d.m+d.sd*t)
		}
	}
	return half * sum
}

// mixtureReach bounds the normal scores of f.
const mixtureReach = 6.5

// transition returns the range of normal scores of f in which P(Y <= y | f) differs
// from 1 and from 0, and the width of its sharpest feature.
func (d Distribution) transition(y float64) (low, high, feature float64) {
	const reach = mixtureReach
	base, _ := d.base()
	centre := math.Log(y + 0.6)
	width := math.Sqrt(base.Var(centre)) / base.Mean(centre)
	// A narrow transition is close to a normal CDF. A wide one, for small counts or
	// small sizes, has long tails and a sharp shoulder.
	widths, sharp := 6.0, 1.0
	if width > 0.3 {
		widths, sharp = 14, 0.5
	}
	if width > 1 {
		sharp /= width
	}
	low = (centre - widths*width - d.m) / d.sd
	high = (centre + widths*width - d.m) / d.sd
	return min(max(low, -reach), reach), min(max(high, -reach), reach), sharp * width / d.sd
}

// mixtureLogProb returns log E[P(Y = y | f)]. The integrand has one peak, between
// the mean of f and log y. The integral covers the width of that peak.
func (d Distribution) mixtureLogProb(y float64) float64 {
	if y < 0 || y != math.Floor(y) {
		return math.Inf(-1)
	}
	if d.sd < minSD {
		return d.count.LogProb(y, d.m)
	}
	base, modified := d.base()
	if modified && y == 0 { // may have two peaks
		return math.Log(d.mixtureCDF(0))
	}
	logIntegrand := func(t float64) float64 { return d.count.LogProb(y, d.m+d.sd*t) - t*t/2 - logSqrt2Pi }
	reach := d.peakReach(y)
	peak := golden.Maximum(reach, -reach, peakSteps, logIntegrand)
	top := logIntegrand(peak)
	// The curvature is 1 from the normal density plus at most about y from the count
	// distribution.
	centre := d.m + d.sd*peak
	mean := base.Mean(centre)
	half := 9 / math.Sqrt(1+d.sd*d.sd*mean*mean/base.Var(centre))
	centres := []float64{peak}
	if modified { // the odds of a hurdle make the peak less regular
		half /= 2
		centres = []float64{peak - half, peak + half}
	}
	sum := 0.0
	for _, c := range centres {
		for i, x := range legendreX {
			sum += legendreW[i] * math.Exp(logIntegrand(c+half*x)-top)
		}
	}
	return top + math.Log(half*sum)
}

// peakSteps is the number of steps that find the peak to 1e-5 of its range.
const peakSteps = 24

// peakReach bounds the distance from 0 of the peak in mixtureLogProb.
func (d Distribution) peakReach(y float64) float64 {
	return math.Abs(math.Log(y+0.1)-d.m)/d.sd + 1
}

// countLogDensity returns log P(Y = y).
func (d Distribution) countLogDensity(y float64) float64 {
	if d.scores.n == 0 {
		return d.mixtureLogProb(y)
	}
	if y < 0 || y != math.Floor(y) {
		return math.Inf(-1)
	}
	below, upTo := d.CDFLimits(y)
	return math.Log(upTo - below)
}

// closedForm is the largest variance of f up to which closed forms of the moments and sums
// over nodes agree to 1e-5; above it f is limited, as rates are.
const closedForm = 0.5

// countNodes returns the distance of nodes among nodeT whose sums resolve functions of f that are as
// smooth as the mean and the variance of a count given f: at most half a unit of f, or of its
// standard deviation if that is less. The sums agree with those of all nodes to 1e-4 in the mean and 1e-3 in the variance.
func (d Distribution) countNodes() int {
	most := 0.5 / nodeStep
	return max(1, int(most/max(d.sd, 1)))
}

// countMean returns the mean. That of exp f is that of a log-normal variable.
func (d Distribution) countMean() float64 {
	if _, modified := d.base(); !modified && d.model <= closedForm {
		return math.Exp(d.m + d.model/2)
	}
	var mean, total float64
	for i := 0; i < nodeCount; i += d.countNodes() {
		total += nodeWeight[i]
		mean += nodeWeight[i] * d.count.Mean(d.m+d.sd*nodeT[i])
	}
	return mean / total
}

// countMoments returns the mean, Var(E[y|f]) and E[Var(y|f)]. With Var(y|f) = mu + c mu^2 for
// mu = exp f, they are those of a log-normal mu.
func (d Distribution) countMoments() (mean, model, noise float64) {
	mean = d.countMean()
	if _, modified := d.base(); !modified && d.model <= closedForm {
		c := d.count.Var(0) - d.count.Mean(0)
		return mean, mean * mean * math.Expm1(d.model), mean + c*mean*mean*math.Exp(d.model)
	}
	var total float64
	for i := 0; i < nodeCount; i += d.countNodes() {
		f, w := d.m+d.sd*nodeT[i], nodeWeight[i]
		deviation := d.count.Mean(f) - mean
		total += w
		model += w * deviation * deviation
		noise += w * d.count.Var(f)
	}
	return mean, model / total, noise / total
}
