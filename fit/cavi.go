package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// cavi maximises the evidence lower bound
//
//	-1/2 sum_n [ log(2 pi s2) + w_n E(y_n - f_n)^2 / s2 ] - KL(q || prior)
//
// by coordinate ascent: for one block of weights after another the optimum of
// its posterior with all others fixed. Variances have closed forms; means solve
// normal equations of expectations, exactly for free outer cores and by a few
// steps of conjugate gradients else, which never lower the bound. Noise and
// prior variances are learned by their closed forms too, so there is no rate
// and no penalty to choose.
//
// A block costs a pass with second moments for its variances and one a
// conjugate gradient step.
type cavi struct {
	remainder
	run   *Run
	steps int
	block []blockName
	cg    conjugate
	given bool // noise and priors are known and not learned

	cause error // why the posterior is no longer finite
}

func newCAVI(d *data, train Observations, steps int) *cavi {
	a := &cavi{remainder: newRemainder(d, train), steps: steps, block: blockNames(d.field)}
	d.expected = func() float64 {
		a.evaluateAll()
		return a.remainder.loss()
	}
	return a
}

func (a *cavi) blocks() int            { return len(a.block) }
func (a *cavi) blockName(i int) string { return blockLabel(a.d.field, a.block[i]) }
func (a *cavi) failure() error         { return a.cause }

// forget drops noise and variances, after a return to other weights.
func (a *cavi) forget() { a.d.noise[0], a.cause = 0, nil }

func (a *cavi) at(i int) (*termAt, *tt.Core, tt.Block) {
	c, b := a.d.varying(a.block[i])
	return &a.terms[a.block[i].term], c, b
}

// begin takes up a run.
func (a *cavi) begin(r *Run, _ Ridge) {
	a.run = r
	if a.d.noise[0] == 0 {
		a.d.startPosterior()
		r.Memory = nil
	}
	a.evaluateAll()
	if a.d.reweigh != nil {
		if len(r.Memory) > 0 {
			copy(a.d.w, r.Memory[0])
		}
		r.Memory = [][]float32{a.d.w}
	}
	if a.d.tally == nil {
		return
	}
	if len(r.Memory) == 0 {
		// The sites' precision is the inverse of the noise.
		if r.Restarts == 0 {
			r.Rate = firstMix
		}
		a.d.size[0] = 1
		a.refreshSites(true)
		a.learnSize()
		r.Memory = [][]float32{a.d.y, a.d.w}
	}
	copy(a.d.y, r.Memory[0])
	copy(a.d.w, r.Memory[1])
	r.Memory = [][]float32{a.d.y, a.d.w}
}

// update takes block i to its optimum, then its prior variance.
func (a *cavi) update(i int) {
	at := a.block[i]
	t, c, block := a.at(i)
	a.leave(at.term)
	plan, exact := a.plan(t, at.core, block)
	p := &blockProblem{d: a.d, train: t.train, core: at.core, block: block, plan: plan, y: a.y, counts: everyEntity(c), steps: a.steps, noise: float64(a.d.noise[0])}
	p.penalty = a.d.priorPenalty(&block)
	plan.Gather(a.y, a.rest)
	if a.weight != nil {
		plan.Gather(a.w, a.weight)
		p.w = a.w
	}
	if exact {
		a.run.Raised += solveExpectedRows(p)
	} else {
		a.run.Raised += int64(a.cg.solve(p))
	}
	if p.failed != nil && a.cause == nil {
		a.cause = p.failed
	}
	c.Refresh(a.d.b, block.Map != nil)
	a.learnPrior(i)
	if i+1 == len(a.block) || a.block[i+1].term != at.term {
		a.evaluate(at.term)
		if a.d.tally != nil {
			a.refreshSites(false)
		} else {
			a.learnNoise()
		}
	}
	if v := float64(block.Spread.PriorVar[0] * a.d.noise[0]); math.IsNaN(v) || math.IsInf(v, 0) {
		a.cause = fmt.Errorf("prior variance %g, noise %g: the evidence bound is not finite", block.Spread.PriorVar[0], a.d.noise[0])
	}
}

// everyEntity counts each entity once: those whose observations have no weight
// take the prior by the same equations.
func everyEntity(c *tt.Core) []float64 { return slices.Repeat([]float64{1}, c.Slices.N) }

func (a *cavi) learnNoise() {
	if !a.given {
		a.d.learnNoise(a.loss())
	}
}

func (a *cavi) learnPrior(i int) {
	if !a.given {
		a.d.learnPrior(a.block[i])
	}
}

// maxExact bounds the extra work of exact rows, as a multiple of that of the
// cheapest pass with second moments.
const maxExact = 8

// plan returns the plan to solve a block over, and whether exactly: that needs
// the plan whose leaf the core is, and so do covariances of its slices.
func (a *cavi) plan(t *termAt, core int, b tt.Block) (*backend.Plan, bool) {
	var own *backend.Plan
	switch {
	case b.Map != nil && b.MultiplierCov == nil:
		return t.pass, false
	case core == 0:
		own = t.first
	case core == len(t.train.Cores)-1:
		own = t.last
	default:
		return t.pass, false
	}
	if own.SecondWork() > maxExact*t.pass.SecondWork() && b.Spread.Cov == nil && b.MultiplierCov == nil {
		return t.pass, false
	}
	return own, b.Map == nil
}

// loss returns the expected loss, of counts the negative expected log
// likelihood at the last sites.
func (a *cavi) loss() float64 {
	if a.d.tally != nil {
		return -a.d.tally.bound
	}
	return a.remainder.loss()
}

func (a *cavi) elbo() float64 { return a.d.elbo(a.loss()) }

// score returns the negative bound an observation, what is to be lowest
// without validation data.
func (a *cavi) score(float64) float64 { return -a.elbo() / float64(len(a.d.y)) }

// endSweep evens out the scales, which leaves the bound as it is.
func (a *cavi) endSweep(bool) {
	a.balance()
	a.evaluateAll()
	if c := a.d.tally; c != nil {
		if n := len(a.run.Points); a.run.Sweep > boundSweeps && n > 1 && a.run.Points[n-1].Train > a.run.Points[n-2].Train {
			a.run.Rate = max(a.run.Rate/2, leastMix)
		}
		a.learnSize()
		a.refreshSites(false)
	}
	if a.d.reweigh != nil {
		a.refreshWeights()
	}
}

// balance moves scale between the cores of each train until their prior
// variances are equal; means, variances and priors move together, so that
// neither the field nor the bound change.
func (a *cavi) balance() {
	for k := range a.terms {
		var owners []int // of each core, the block that scales it
		logMean := 0.0
		for i, at := range a.block {
			_, c, b := a.at(i)
			if at.term == k && !(c.Variant == tt.WLR && b.Map == nil) {
				owners = append(owners, i)
				logMean += math.Log(float64(b.Spread.PriorVar[0]))
			}
		}
		logMean /= float64(len(owners))
		if len(owners) != len(a.terms[k].train.Cores) || math.IsInf(logMean, 0) || math.IsNaN(logMean) {
			continue // an additive core has two blocks of one scale
		}
		for _, i := range owners {
			_, c, b := a.at(i)
			by := math.Exp((logMean - math.Log(float64(b.Spread.PriorVar[0]))) / 2)
			scaleBlock(&b, by)
			c.Refresh(a.d.b, c.Map != nil)
		}
	}
}

// scaleBlock multiplies a block's weights by a number.
func scaleBlock(b *tt.Block, by float64) {
	for i := range b.Value {
		b.Value[i] *= float32(by)
	}
	b.Spread.Scale(by)
}
