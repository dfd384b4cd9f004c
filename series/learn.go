package series

import (
	"errors"
	"math"
	"slices"
)

// MaxStep is the largest step.
const MaxStep = 1 << 26

var errArrays = errors.New("series: the sites do not fit together: their starts, steps, values and precisions contradict each other")

// Learning the prior evaluates the log evidence of at most learnSites sites, those of
// evenly spaced series.
const (
	learnSites  = 60_000
	firstStep   = 1.0
	smallStep   = 0.4
	leastStep   = 0.05
	evaluations = 50
)

// Learn moves the prior towards the maximum of the summed log evidence, by a pattern
// search over logarithms of variances and logits of coefficients. The first call, with
// fresh set, tries several starts. A change that lowers the evidence of all sites is
// taken back, so the evidence never falls.
func (p *Process) Learn(threads int, fresh bool) {
	cut, stride := p.shards(), 1+len(p.Step)/learnSites
	start := []Prior{p.Prior}
	budget := evaluations
	if fresh {
		budget *= 3
		if p.Prior.AR > 0 {
			for _, phi := range []float64{0.5, 0.97} {
				other := p.Prior
				other.Phi = phi
				start = append(start, other)
			}
		}
	}
	score := func(q Prior) float64 { return p.evidence(threads, q, cut, stride) }
	best, bestScore := p.Prior, math.Inf(-1)
	for _, q := range start {
		if s := score(q); s > bestScore {
			best, bestScore = q, s
		}
	}
	step := smallStep
	if fresh {
		step = firstStep
	}
	theta := best.theta()
	for budget > 0 && step > leastStep {
		improved := false
		before := slices.Clone(theta)
		for i := range theta {
			for _, by := range []float64{step, -step} {
				moved := slices.Clone(theta)
				moved[i] += by
				budget--
				if s := score(best.withTheta(moved)); s > bestScore {
					theta, bestScore, improved = moved, s, true
					break
				}
			}
		}
		if improved { // once more in the same direction
			moved := slices.Clone(theta)
			for i := range moved {
				moved[i] += theta[i] - before[i]
			}
			budget--
			if s := score(best.withTheta(moved)); s > bestScore {
				theta, bestScore = moved, s
			}
			continue
		}
		step /= 2
	}
	learned := best.withTheta(theta)
	if stride > 1 && p.evidence(threads, learned, cut, 1) < p.evidence(threads, p.Prior, cut, 1) {
		return
	}
	p.Prior = learned.rounded()
}

// rounded returns the prior with parameters that survive a round trip as float32.
func (p Prior) rounded() Prior {
	p.Seasons = slices.Clone(p.Seasons)
	p.SetValues(p.Values())
	return p
}
