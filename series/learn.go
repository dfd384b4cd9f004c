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
// evenly spaced series; with more than fewStates states, whose number counts squared in
// the cost, of fewer sites.
const (
	learnSites      = 40_000
	fewStates       = 6
	leastLearnSites = 6_000

	rounds   = 6   // of a first call
	width    = 0.3 // of the parabolas
	mostMove = 1.5

	sharper      = 4.0 // factor of precisions, a power of two
	mostPowers   = 4
	leastSharper = 2

	// A drift is shared by this number of series or more. That of fewer varies around 0,
	// because their mean would leave nothing to vary.
	leastShared = 4
)

// Learn moves the prior towards the maximum of the summed log evidence over logarithms
// of variances and logits of coefficients: one parameter after the other moves to the
// top of the parabola through three values of the evidence. The first call, with fresh
// set, tries several starts and does several rounds. A change that lowers the evidence of
// other series is taken back. It costs O(learnSites) for any number of sites. Where series
// have scales, these move after it.
func (p *Process) Learn(threads int, fresh bool) {
	cut, of := p.shards(), p.sample()
	workers := make([]worker, max(threads, 1))
	score := func(q Prior) float64 { return p.evidence(workers, q, cut, of, 0) }
	best, n := p.Prior, 1
	top := score(best)
	if fresh {
		n = rounds
		for _, q := range p.Prior.starts() {
			if s := score(q); s > top {
				best, top = q, s
			}
		}
	}
	for range n {
		best, top = climb(best, top, p.Series() >= leastShared, score)
	}
	if of.stride == 1 || p.evidence(workers, best, cut, of, 1) >= p.evidence(workers, p.Prior, cut, of, 1) {
		p.Prior = best.rounded()
	}
	if p.Scale != nil {
		p.learnScales(workers, cut, fresh)
	}
}

// Sharpen looks for a prior together with the noise. It multiplies the precisions of all sites by
// the power of sharper, up to mostPowers, under which a prior has the highest evidence, that of the
// process or a start from another one, and takes this prior. It reports whether anything changed.
// While the noise is all that other terms leave of the target, a prior that is learned with it
// finds hardly any movement, which in turn leaves the noise as it is. A power must raise the
// evidence by leastSharper. It costs as much as two or three rounds of Learn per power.
func (p *Process) Sharpen(threads int, from Prior) bool {
	cut, of := p.shards(), p.sample()
	workers := make([]worker, max(threads, 1))
	score := func(q Prior) float64 { return p.evidence(workers, q, cut, of, 0) }
	starts := append(from.starts(), from)
	best, powers, top, changed := p.Prior, 0, score(p.Prior), false
	for n := range mostPowers + 1 {
		if n > 0 {
			p.multiply(sharper)
		}
		for _, q := range starts {
			if s := score(q); s > top+leastSharper {
				best, powers, top, changed = q, n, s, true
			}
		}
	}
	for range mostPowers - powers {
		p.multiply(1 / sharper)
	}
	p.Prior = best.rounded()
	return changed
}

// multiply multiplies all precisions by a power of two.
func (p *Process) multiply(by float32) {
	for i := range p.Precision {
		p.Precision[i] *= by
	}
}

// starts returns priors with other variances and coefficients.
func (p Prior) starts() []Prior {
	var out []Prior
	theta := p.theta()
	for _, scale := range []float64{0.01, 0.1, 1, 10} {
		for _, phi := range []float64{0.3, 0.8, 0.97} {
			moved := slices.Clone(theta)
			i := 0
			q := p
			q.each(func(*float64) { moved[i] += math.Log(scale); i++ }, func(*float64) { moved[i] = logit(phi); i++ }, func(*float64) { i++ })
			out = append(out, q.withTheta(moved))
		}
	}
	if len(p.Seasons) == 0 {
		return out
	}
	// A level that moves can also follow a slow season, so some starts leave it to the season.
	for _, season := range []float64{1, 10} {
		for _, level := range []float64{1e-4, 1e-2} {
			q := p.withTheta(theta)
			q.Walk, q.AR, q.SlopeWalk = q.Walk*level, q.AR*level, q.SlopeWalk*level
			for i := range q.Seasons {
				q.Seasons[i].Var *= season
			}
			out = append(out, q)
		}
	}
	return out
}

// climb moves each parameter once, that of the shared drift if it is free, and returns the
// better prior with its score.
func climb(p Prior, top float64, shared bool, score func(Prior) float64) (Prior, float64) {
	theta := p.theta()
	var fixed []int
	at := 0
	p.each(func(*float64) { at++ }, func(*float64) { at++ }, func(*float64) {
		if !shared {
			fixed = append(fixed, at)
		}
		at++
	})
	for i := range theta {
		if slices.Contains(fixed, i) {
			continue
		}
		try := func(by float64) float64 {
			moved := slices.Clone(theta)
			moved[i] += by
			return score(p.withTheta(moved))
		}
		by, best := uphill(top, try)
		theta[i], top = theta[i]+by, best
	}
	return p.withTheta(theta), top
}

// uphill returns a move whose score is not lower than top, that of none. The candidates
// are both sides, and the top of the parabola or, where it has none, a long step uphill.
func uphill(top float64, try func(by float64) float64) (by, best float64) {
	low, high := try(-width), try(width)
	best, by = low, -width
	if high > low {
		best, by = high, width
	}
	far := by * mostMove / width
	if curve := low + high - 2*top; curve < 0 {
		far = min(max(width/2*(low-high)/curve, -mostMove), mostMove)
	}
	if s := try(far); s > best {
		best, by = s, far
	}
	if best > top {
		return by, best
	}
	return 0, top
}

// rounded returns the prior with parameters that survive a round trip as float32.
func (p Prior) rounded() Prior {
	p.Seasons = slices.Clone(p.Seasons)
	p.SetValues(p.Values())
	return p
}
