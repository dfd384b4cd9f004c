package conformal

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/cholesky"
)

// The prior of effects is normal with mean 0; its standard deviations are in units of
// the effect.
const (
	changeSD      = 1.0   // of the half-normal distribution of a number in changeSDs
	leastVariance = 1e-10 // of an estimate, against bins that are predicted exactly
)

var (
	// effectSDs are the standard deviations of the effect on the total that are tried. Few rows must not move the mean of a model that has
	// no bias.
	effectSDs = [...]float64{0, .01, .02, .05, .1, .2}

	// changeSDs are those of the difference between the effects of the first and the last bin.
	changeSDs = [...]float64{0, .005, .01, .02, .04, .08, .16, .32, .64, 1.28}
)

// A mixture is a mean of posterior means, weighted by the marginal densities of the estimates under each prior: the prior with the highest
// density is often one that chance suggests if there are few bins.
type mixture struct {
	highest, total float64 // log density, and the sum of densities relative to it
	sums           []float64
}

// add adds the posterior means under a prior.
func (m *mixture) add(density float64, posterior []float64) {
	if math.IsInf(density, -1) || math.IsNaN(density) {
		return
	}
	before, weight := 1.0, 1.0
	switch {
	case m.total == 0:
		m.highest, m.sums = density, make([]float64, len(posterior))
	case density > m.highest:
		before, m.highest = math.Exp(m.highest-density), density
	default:
		weight = math.Exp(density - m.highest)
	}
	m.total = m.total*before + weight
	for i, e := range posterior {
		m.sums[i] = m.sums[i]*before + weight*e
	}
}

// means returns the weighted means of n effects, 0 if there is no prior.
func (m *mixture) means(n int) []float64 {
	means := make([]float64, n)
	for i, s := range m.sums {
		means[i] = s / m.total
	}
	return means
}

// shrunkEffect returns the posterior mean of the effect on the total.
func shrunkEffect(estimate, variance float64) float64 {
	var m mixture
	variance = max(variance, leastVariance)
	for _, sd := range effectSDs {
		total := sd*sd + variance
		m.add(-(estimate*estimate/total+math.Log(total))/2, []float64{estimate * sd * sd / total})
	}
	return m.means(1)[0]
}

// shrunkEffects returns the posterior means of the effects of bins from estimates and
// the variances of these. The prior is the effect on the total plus a random walk from
// bin to bin around its own mean, so that bins are shrunk to their neighbours, and all
// of them to 0. The shares of the bins in the total define that mean.
func shrunkEffects(share, estimate, variance []float64) []float64 {
	var m mixture
	walk := centredWalk(share)
	for _, effect := range effectSDs {
		for _, change := range changeSDs {
			m.add(underPrior(estimate, variance, walk, effect, change))
		}
	}
	return m.means(len(estimate))
}

// underPrior returns the log density of the estimates and of the standard deviation
// of the change, and the posterior means, for standard deviations of the effect on the total and of the change.
func underPrior(estimate, variance, walk []float64, effect, change float64) (density float64, posterior []float64) {
	n := len(estimate)
	prior, total := make([]float64, n*n), make([]float64, n*n)
	for i := range prior {
		prior[i] = effect*effect + change*change*walk[i]
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
