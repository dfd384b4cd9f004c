package fit

import (
	"math"

	"github.com/kernel-fried-tensor/kft/tt"
)

// What solvers of posteriors share: the evidence lower bound
//
//	-1/2 sum_n [ log(2 pi s2) + w_n E(y_n - f_n)^2 / s2 ] - KL(q || prior),
//
// and the closed forms of noise and prior variances.

// varies tells whether the field's weights have posteriors.
func (d *data) varies() bool { return d.field.Terms[0].Varies() }

// varying returns a block whose weights vary; before data they are independent.
func (d *data) varying(at blockName) (*tt.Core, tt.Block) {
	c := d.field.Terms[at.term].Cores[at.core]
	b := c.Blocks()[at.block]
	b.Norm = nil
	return c, b
}

// startVariance is the relative variance of weights at the start.
const startVariance = 1e-2

// startPosterior sets the noise to the target's variance, 1, and the priors'
// variances to those of the start values.
func (d *data) startPosterior() {
	d.noise[0] = 1
	for _, at := range blockNames(d.field) {
		c, b := d.varying(at)
		b.Spread.Start(0, c.Slices.Slice())
		moment, _ := c.SecondMoment(d.b, &b)
		b.Spread.Start(startVariance*moment, c.Slices.Slice())
		d.learnPrior(at)
		c.Refresh(d.b, c.Map != nil)
	}
}

// priorPenalty returns what the prior makes of a block's equations, in units of
// the summed loss: a ridge of noise over prior variance about the prior's mean.
func (d *data) priorPenalty(b *tt.Block) *penalty {
	lambda := float64(d.noise[0]) / float64(b.Spread.PriorVar[0])
	return &penalty{row: func(int) float64 { return lambda }, mean: b.Spread.PriorMean}
}

// leastNoise keeps the noise of data without any above zero, where the bound
// is infinite.
const leastNoise = 1e-10

// learnNoise sets the noise to the variance of largest evidence, given the
// summed expected loss.
func (d *data) learnNoise(loss float64) {
	d.noise[0] = float32(max(loss/float64(len(d.y)), leastNoise))
}

// leastPrior keeps the prior of a block that died out above zero.
const leastPrior = 1e-30

// learnPrior sets a block's prior variance to the one of largest evidence.
func (d *data) learnPrior(at blockName) {
	c, b := d.varying(at)
	moment, _ := c.SecondMoment(d.b, &b)
	b.Spread.PriorVar[0] = float32(max(moment, leastPrior))
}

// elbo returns the evidence lower bound, given the summed expected loss, of
// counts the negative expected log likelihood. Weights of observations are taken
// as inverse relative variances, whose logarithms are left out.
func (d *data) elbo(loss float64) float64 {
	n, noise := float64(len(d.y)), float64(d.noise[0])
	bound := -loss
	if d.tally == nil {
		bound = -n/2*math.Log(2*math.Pi*noise) - loss/(2*noise)
		if d.reweigh != nil {
			bound -= d.reweigh.logVariances(d.w) / 2
		}
	}
	for _, at := range blockNames(d.field) {
		c, b := d.varying(at)
		bound -= c.Divergence(d.b, &b)
	}
	return bound
}
