package conformal

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/cholesky"
)

// The prior of effects is normal with mean 0; its standard deviations are in units of
// the effect.
const (
	effectSD      = 0.1   // of the effect on the total
	changeSD      = 1.0   // of the half-normal distribution of a number in changeSDs
	leastVariance = 1e-10 // of an estimate, against bins that are predicted exactly
)

// changeSDs are the standard deviations of the difference between the effects of the
// first and the last bin that are tried.
var changeSDs = [...]float64{0, .005, .01, .02, .04, .08, .16, .32, .64, 1.28}

// shrunkEffect returns the posterior mean of the effect on the total.
func shrunkEffect(estimate, variance float64) float64 {
	return estimate * effectSD * effectSD / (effectSD*effectSD + variance)
}

// shrunkEffects returns the posterior means of the effects of bins from estimates and
// the variances of these. The prior is the effect on the total plus a random walk from
// bin to bin around its own mean, so that bins are shrunk to their neighbours, and all
// of them to 0. The shares of the bins in the total define that mean. The variance of
// the walk maximises the marginal density of the estimates.
func shrunkEffects(share, estimate, variance []float64) []float64 {
	best := math.Inf(-1)
	effects := make([]float64, len(estimate))
	walk := centredWalk(share)
	for _, change := range changeSDs {
		if density, posterior := underPrior(estimate, variance, walk, change); density > best {
			best, effects = density, posterior
		}
	}
	return effects
}

// underPrior returns the log density of the estimates and of the standard deviation
// of the change, and the posterior means.
func underPrior(estimate, variance, walk []float64, change float64) (density float64, posterior []float64) {
	n := len(estimate)
	prior, total := make([]float64, n*n), make([]float64, n*n)
	for i := range prior {
		prior[i] = effectSD*effectSD + change*change*walk[i]
		total[i] = prior[i]
	}
	for i, v := range variance {
		total[i*n+i] += max(v, leastVariance)
	}
	if !cholesky.Factor(total, n) {
		return math.Inf(-1), nil
	}
	solved := append([]float64{}, estimate...)
	cholesky.Solve(total, n, solved)
	density = -change * change / (2 * changeSD * changeSD)
	for i, e := range estimate {
		density -= e*solved[i]/2 + math.Log(total[i*n+i])
	}
	posterior = make([]float64, n)
	for i := range posterior {
		for j, s := range solved {
			posterior[i] += prior[i*n+j] * s
		}
	}
	return density, posterior
}

// centredWalk returns the covariance of a random walk with a step from each bin to the
// next, minus its mean, in which the bins have shares. The difference between the
// first and the last value has variance 1.
func centredWalk(share []float64) []float64 {
	n := len(share)
	c := make([]float64, n*n)
	row := make([]float64, n) // means of the rows of c before centring
	all := 0.0
	for i := range n {
		for j := range n {
			c[i*n+j] = float64(min(i, j)) / float64(max(n-1, 1))
			row[i] += share[j] * c[i*n+j]
		}
		all += share[i] * row[i]
	}
	for i := range c {
		c[i] += all - row[i/n] - row[i%n]
	}
	return c
}
