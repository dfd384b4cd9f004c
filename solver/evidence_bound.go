package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// This file holds what the solvers of posteriors share: the evidence lower bound
//
// 	-1/2 sum_n [ log(2 pi s2) + w_n E(y_n - f_n)^2 / s2 ] - KL(q || prior),
//
// and the closed forms of the noise and the prior variances.

// hasPosterior reports whether the field's weights have posteriors. Series alone have.
func (d *data) hasPosterior() bool { return len(d.field.Terms) == 0 || d.field.Terms[0].Varies() }

// posteriorBlock returns a block with a posterior. Its prior is independent per
// weight, so it has no norm.
func (d *data) posteriorBlock(at blockID) (*tt.Core, tt.Block) {
	c := d.field.Terms[at.term].Cores[at.core]
	b := c.Blocks()[at.block]
	b.Norm = nil
	return c, b
}

// startVariance is the variance of weights at the start, relative to their square.
const startVariance = 1e-2

// startPosterior sets the noise to 1, the variance of the target, and the prior
// variances to the second moments of the start values, unless they are given.
func (d *data) startPosterior() {
	d.noise[0] = 1
	if d.temper > 0 {
		d.noise[0] = float32(d.temper)
	}
	if d.givenNoise > 0 {
		d.noise[0] = d.givenNoise
	}
	if d.offset {
		d.field.Offset.Var = d.noise[0] / float32(len(d.y))
	}
	for _, at := range blockIDs(d.field) {
		c, b := d.posteriorBlock(at)
		b.Posterior.SetVariance(0, c.Slices.Slice())
		moment, _ := c.SecondMoment(d.b, &b)
		b.Posterior.SetVariance(startVariance*moment, c.Slices.Slice())
		d.learnPrior(at)
		// Of ordinary numbers a curve per id starts small, so that it takes what the effect of the id leaves, unless it vanished so.
		if b.Map != nil && len(d.field.Terms[at.term].Cores) == 1 && (d.sites != nil || len(c.Modes) == 1 || d.wideCurves) {
			b.Posterior.PriorVar[0] = max(b.Posterior.PriorVar[0], d.startWidth())
		}
		c.Refresh(d.b, c.Map != nil)
	}
}

// Few observations say little about each weight: curves of numbers whose prior variance is small at first grow by
// less per sweep than ends a fit, although the bound has its maximum far away. With fewer than
// wideBelow of them such effects start with a prior variance of wideVariance times that of the target, or of
// wideLogOdds for answers of yes or no.
const (
	wideBelow    = 2000
	wideVariance = 0.1
	wideLogOdds  = 0.3
)

// startWidth returns the least prior variance of curves at the start.
func (d *data) startWidth() float32 {
	if d.givenPrior > 0 || len(d.y) >= wideBelow {
		return 0
	}
	if d.sites == nil {
		return wideVariance
	}
	if _, yesNo := d.law().(likelihood.Bernoulli); yesNo {
		return wideLogOdds
	}
	return 0
}

// priorPenalty returns the prior of a block as a penalty in units of the summed
// loss: a ridge of noise / prior variance around the prior mean.
func (d *data) priorPenalty(b *tt.Block) *blockPenalty {
	lambda := float64(d.noise[0]) / float64(b.Posterior.PriorVar[0])
	return &blockPenalty{Row: func(int) float64 { return lambda }, Mean: b.Posterior.PriorMean}
}

// leastNoise keeps the noise of noiseless data above zero, where the bound is
// infinite.
const leastNoise = 1e-10

// learnNoise sets the noise to the variance that maximizes the bound, given the
// summed expected loss. A given noise stays as it is.
func (d *data) learnNoise(loss float64) {
	if d.givenNoise > 0 {
		d.noise[0] = d.givenNoise
		return
	}
	d.noise[0] = float32(max(loss/d.independent(), leastNoise))
	if d.temper > 0 {
		d.noise[0] *= float32(d.temper)
	}
}

// leastPrior keeps the prior variance of a block whose weights vanished above zero.
const leastPrior = 1e-30

// learnPrior sets the prior variance of a block to the value that maximizes the
// bound. A given prior variance stays as it is.
func (d *data) learnPrior(at blockID) {
	c, b := d.posteriorBlock(at)
	if d.givenPrior > 0 {
		b.Posterior.PriorVar[0] = d.givenPrior
		return
	}
	moment, _ := c.SecondMoment(d.b, &b)
	b.Posterior.PriorVar[0] = float32(max(moment, leastPrior))
}

// elbo returns the evidence lower bound, given the summed expected loss, or, for
// counts, the negative expected log likelihood. Observation weights are inverse
// relative variances. Their logarithms are constant and omitted unless the weights
// are learned.
func (d *data) elbo(loss float64) float64 {
	n, noise := d.independent(), float64(d.noise[0])
	bound := -loss
	if d.sites == nil {
		bound = -n/2*math.Log(2*math.Pi*noise) - loss/(2*noise)
		if d.noiseWeights != nil {
			bound -= d.noiseWeights.logVariances(d.w) / 2
		}
	}
	for _, at := range blockIDs(d.field) {
		c, b := d.posteriorBlock(at)
		bound -= c.Divergence(d.b, &b)
	}
	for _, s := range d.series {
		bound -= s.divergence
	}
	return bound + d.offsetEntropy()
}
