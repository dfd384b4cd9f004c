package solver

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/solver/division"
	"github.com/kernel-fried-tensor/kft/tt"
)

// cavi maximizes the evidence lower bound
//
//	-1/2 sum_n [ log(2 pi s2) + w_n E(y_n - f_n)^2 / s2 ] - KL(q || prior)
//
// by coordinate ascent: each block's posterior is set to its optimum while all
// others are fixed. Variances have closed forms. Means solve normal equations of
// expectations, exactly for free outer cores and otherwise by a few conjugate
// gradient steps, which never decrease the bound. Noise and prior variances have
// closed forms too, so there is no learning rate and no penalty to choose.
//
// A block costs one pass with second moments for its variances and one per
// conjugate gradient step; the middle core of three costs less than one, see solveMiddle.
type cavi struct {
	residuals
	run     *Run
	steps   int
	ids     []blockID
	joint   bool // a block of all effects follows the others
	gram    *jointGram
	cg      conjugateGradient
	pointCG conjugateGradient // of the sweeps of als
	offered []termValues      // of all terms of the specification
	codes   [][]int32         // of the observations
	fixed   bool              // noise and prior variances are given, not learned
	divider division.Divider
	divided map[*tt.Core]bool // whether a division follows each update
	start   Start             // of a training before
	from    bool              // the run started from the posterior of fewer observations

	err error // why the posterior is not finite
}

func newCAVI(d *data, train Observations, steps int) *cavi {
	a := &cavi{residuals: newResiduals(d, train, false), steps: steps, codes: train.Codes}
	a.setBlocks()
	a.offered, d.reshape = a.terms, a.reshape
	d.expectedLoss = func() float64 {
		a.evaluateAll()
		return a.residuals.loss()
	}
	return a
}

// setBlocks lists the blocks of the field.
func (a *cavi) setBlocks() {
	a.ids = blockIDs(a.d.field)
	a.joint = a.hasJointEffects()
}

func (a *cavi) blocks() int {
	n := len(a.ids) + len(a.d.series)
	if a.joint {
		n++
	}
	return n
}
func (a *cavi) failure() error { return a.err }
func (a *cavi) blockName(i int) string {
	if i == len(a.ids)+len(a.d.series) {
		return "effects"
	}
	if i >= len(a.ids) {
		return a.d.seriesLabel(i - len(a.ids))
	}
	return blockLabel(a.d.field, a.ids[i])
}

// forget discards the noise, so begin starts the posterior again.
func (a *cavi) forget() { a.d.noise[0], a.err = 0, nil }

func (a *cavi) at(i int) (*termValues, *tt.Core, tt.Block) {
	c, b := a.d.posteriorBlock(a.ids[i])
	return &a.terms[a.ids[i].term], c, b
}

// begin starts or continues a run.
func (a *cavi) begin(r *Run, _ Ridge) {
	a.run = r
	a.divider.Forget() // a kernel may have changed
	a.gram = nil
	if a.d.noise[0] == 0 && !r.starting() {
		if r.StartSweeps > 0 {
			a.startFromPoint()
		} else {
			a.d.startPosterior()
		}
		r.Memory = nil
	}
	a.points = r.starting()
	a.evaluateAll()
	if a.d.noiseWeights != nil {
		if len(r.Memory) > 0 {
			copy(a.d.w, r.Memory[0])
		}
		r.Memory = [][]float32{a.d.w}
	}
	if a.d.sites == nil {
		return
	}
	if len(r.Memory) == 0 {
		// The noise is 1: the precision of a site takes its place.
		if r.Restarts == 0 {
			r.Rate = firstMix
		}
		clear(a.d.parameters)
		a.refreshSites(true)
		a.learnLaw()
		r.Memory = [][]float32{a.d.y, a.d.w}
	}
	copy(a.d.y, r.Memory[0])
	copy(a.d.w, r.Memory[1])
	r.Memory = [][]float32{a.d.y, a.d.w}
}

// update sets block i to its optimum, then its prior variance.
func (a *cavi) update(i int) {
	if i == len(a.ids)+len(a.d.series) {
		a.updateJointEffects()
		return
	}
	if i >= len(a.ids) {
		noise := float64(a.d.noise[0])
		if a.d.temper > 0 {
			noise /= a.d.temper // series would follow every observation, and the noise stay as small
		}
		a.updateSeries(a.d.series[i-len(a.ids)], noise, a.learnsSeries(), !a.from && a.run.Sweep == a.d.sharpens())
		a.endTerm(len(a.terms) + i - len(a.ids))
		return
	}
	at := a.ids[i]
	t, c, block := a.at(i)
	a.knownLoss = nil
	a.residualFor(at.term)
	plan, exact := a.plan(t, at.core, block)
	p := &blockProblem{d: a.d, train: t.train, core: at.core, block: block, plan: plan, steps: a.steps, noise: float64(a.d.noise[0])}
	p.penalty = a.d.priorPenalty(&block)
	if p.sums = a.obs.EntitySums(at.term); p.sums == nil || !exact {
		p.target, p.weight = a.obs.InPlanOrder(plan)
	}
	if block.Along != nil {
		solveAlong(p, !a.fixed)
	} else if exact {
		a.run.Raised += solveExpectedSlices(p)
	} else {
		a.run.Raised += int64(a.cg.solve(p))
	}
	if p.failed != nil && a.err == nil {
		a.err = p.failed
	}
	c.Refresh(a.d.b, block.Map != nil)
	a.learnPrior(i)
	if a.dividable(i) && a.often(c) {
		a.divide(i, c)
	}
	if a.lastOfTerm(i) {
		a.evaluate(at.term)
		a.endTerm(at.term)
	}
	if v := float64(block.Posterior.PriorVar[0] * a.d.noise[0]); math.IsNaN(v) || math.IsInf(v, 0) {
		a.err = fmt.Errorf("the evidence bound is not finite (prior variance %g, noise %g)", block.Posterior.PriorVar[0], a.d.noise[0])
	}
}

// endTerm follows the update of term k, series after the others: offset, and sites or noise.
func (a *cavi) endTerm(k int) {
	a.updateOffset()
	if a.d.sites != nil {
		if a.refreshesAfter(k) {
			a.refreshSites(false)
		}
	} else {
		a.learnNoise()
	}
}

func (a *cavi) learnNoise() {
	if !a.fixed {
		a.d.learnNoise(a.loss())
	}
}

func (a *cavi) learnPrior(i int) {
	if !a.fixed {
		a.d.learnPrior(a.ids[i])
	}
}

// maxExact limits the work of an exact solve, relative to the cheapest pass with
// second moments.
const maxExact = 8

// plan returns the plan for solving a block, and whether the solve is exact. An
// exact solve needs covariances of its slices: the plan with the core at its leaves, or
// one whose passes have them too.
func (a *cavi) plan(t *termValues, core int, b tt.Block) (*backend.Plan, bool) {
	if b.Map != nil && b.MultiplierCov == nil || core != 0 && core != len(t.train.Cores)-1 {
		return t.Cheapest, false
	}
	own := t.Own(core)
	if own == nil {
		return t.Cheapest, b.Map == nil
	}
	if b.Along == nil && own.SecondMomentWork() > maxExact*t.Cheapest.SecondMomentWork() && b.Posterior.Cov == nil && b.MultiplierCov == nil {
		return t.Cheapest, false
	}
	return own, b.Map == nil
}

// loss returns the expected loss. For counts it is the negative expected log
// likelihood at the current sites.
func (a *cavi) loss() float64 {
	if a.d.sites != nil {
		return -a.d.sites.bound
	}
	return a.residuals.loss()
}

func (a *cavi) elbo() float64 { return a.d.elbo(a.loss()) }

// score returns the negative bound per observation.
func (a *cavi) score(float64) float64 { return -a.elbo() / float64(len(a.d.y)) }

// endSweep balances the scales of the cores, which does not change the bound.
func (a *cavi) endSweep(bool) {
	for k := range a.terms {
		if !a.balance(k) {
			a.evaluate(k)
			a.changed()
		}
	}
	if c := a.d.sites; c != nil {
		if n := len(a.run.Points); a.run.Sweep > boundSweeps && n > 1 && a.run.Points[n-1].Train > a.run.Points[n-2].Train {
			a.run.Rate = max(a.run.Rate/2, leastMix)
		}
		a.learnLaw()
		a.refreshSites(false)
	}
	if a.d.noiseWeights != nil {
		a.refreshNoiseWeights()
	}
}

// balance rescales the cores of a train until their prior variances differ by a factor of at most 16, of two cores by 4. Means,
// variances and priors change together, so neither the field nor the bound changes. The factors are powers
// of two, whose products are exact, so the values of the term keep their bits. It reports whether they do:
// paths along time keep logarithms, so their trains have equal prior variances, and values to compute again.
func (a *cavi) balance(k int) (exact bool) {
	if a.d.givenPrior > 0 {
		return true // all prior variances are equal, and stay as given
	}
	exact = true
	var owners []int // for each core, the block that carries its scale
	logMean := 0.0
	for i, at := range a.ids {
		if at.term != k {
			continue
		}
		if _, c, b := a.at(i); !(c.Variant == tt.WLR && b.Map == nil) {
			owners = append(owners, i)
			logMean += math.Log2(float64(b.Posterior.PriorVar[0]))
			exact = exact && b.Along == nil
		}
	}
	logMean /= float64(len(owners))
	if len(owners) != len(a.terms[k].train.Cores) || math.IsInf(logMean, 0) || math.IsNaN(logMean) {
		return true // an additive core has two blocks with one common scale
	}
	sum, rounded := 0.0, 0.0 // of the logarithms of the factors, which add up to 0
	for _, i := range owners {
		_, c, b := a.at(i)
		by := (logMean - math.Log2(float64(b.Posterior.PriorVar[0]))) / 2
		if exact {
			sum += by
			by = math.Round(sum) - rounded
			rounded += by
		}
		if by == 0 {
			continue
		}
		scaleBlock(a.d.b.Threads(), &b, math.Exp2(by))
		c.Refresh(a.d.b, c.Map != nil)
	}
	return exact
}

// scaleBlock multiplies the weights of a block by a factor.
func scaleBlock(threads int, b *tt.Block, by float64) {
	tt.Multiply(threads, b.Value, float32(by))
	b.Posterior.Scale(threads, by)
	b.Along.Scale(by)
}
