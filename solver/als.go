package solver

import (
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
)

// maxNodeBytes limits the memory of exact solves, which is 4 R bytes per node of
// the plan. A core above the limit is updated by conjugate gradients, like an inner
// core.
const maxNodeBytes = 1 << 30

// als minimizes over one block after another while the others are fixed. Outer
// cores are solved exactly: each slice has normal equations of the size of its
// rank. Inner cores and regressions take a few steps of preconditioned conjugate
// gradients. Each term is fitted to the residuals of the other terms.
//
// A sweep costs R^2 multiply-adds per cell for each outer core and, with three
// cores, one pass per conjugate gradient step for the inner core.
type als struct {
	residuals
	run   *Run
	ridge Ridge
	steps int // conjugate gradient steps per block
	ids   []blockID
	cg    conjugateGradient
}

func newALS(d *data, train Observations, steps int) *als {
	return &als{residuals: newResiduals(d, train, true), steps: steps, ids: blockIDs(d.field)}
}

func (a *als) blocks() int { return len(a.ids) + len(a.d.series) }

func (a *als) blockName(i int) string {
	if i >= len(a.ids) {
		return a.d.seriesLabel(i - len(a.ids))
	}
	return blockLabel(a.d.field, a.ids[i])
}

// begin starts or continues a run from the current weights.
func (a *als) begin(r *Run, ridge Ridge) {
	a.run, a.ridge = r, ridge
	a.evaluateAll()
}

// update minimizes over block i.
func (a *als) update(i int) {
	if i >= len(a.ids) {
		a.updatePointSeries(a.d.series[i-len(a.ids)], true)
		return
	}
	a.run.Raised += a.updatePoint(a.ids, i, a.ridge, a.steps, &a.cg)
}

// updatePoint minimizes over block i of ids as a point estimate. It returns the
// number of singular systems.
func (a *residuals) updatePoint(ids []blockID, i int, ridge Ridge, steps int, cg *conjugateGradient) (raised int64) {
	at := ids[i]
	t := &a.terms[at.term]
	c := t.train.Cores[at.core]
	block := c.Blocks()[at.block]
	block.Posterior = nil
	noise := 0.0
	if block.Along != nil {
		a.changed()
		noise = a.pointNoise()
	}
	a.knownLoss = nil
	a.residualFor(at.term)
	last := len(t.train.Cores) - 1
	outer := at.core == 0 || at.core == last
	plan := t.Cheapest
	if own := t.Own(at.core); outer && own != nil {
		plan = own
	}
	p := &blockProblem{d: a.d, train: t.train, core: at.core, block: block, plan: plan, entityWeights: a.d.entityWeights[at.term][at.core], steps: steps}
	p.penalty = ridge.Of(c, block, p.entityWeights)
	p.sums = a.obs.EntitySums(at.term)
	exact := outer && block.Map == nil && block.Along == nil && p.sums == nil && t.Own(at.core) != nil && 4*plan.Nodes()*plan.LeafRank() <= maxNodeBytes
	if exact {
		p.sorted = a.obs.InLeafOrder(plan)
	}
	if p.sorted == nil && (p.sums == nil || block.Map != nil) {
		p.target, p.weight = a.obs.InPlanOrder(plan)
	}
	if block.Along != nil {
		p.noise = noise
		solveAlong(p, true)
	} else if exact {
		raised = solveSlices(p)
	} else if outer && block.Map == nil && (p.sums != nil || t.Own(at.core) == nil) {
		raised = solveExpectedSlices(p)
	} else {
		raised = int64(cg.solve(p))
	}
	c.Refresh(a.d.b, block.Map != nil)
	if i+1 == len(ids) || ids[i+1].term != at.term {
		a.evaluate(at.term)
	}
	if i+1 == len(ids) {
		a.updateOffset()
	}
	return raised
}

// solveSlices solves the free slices of an outer core exactly. It returns the
// number of singular systems.
func solveSlices(p *blockProblem) int64 {
	p.d.passes++
	c := p.train.Cores[p.core]
	r := p.plan.LeafRank()
	type scratch struct{ matrix, lambda []float64 }
	workers := make([]scratch, p.d.b.Threads())
	var raised atomic.Int64
	offset := c.Offset()
	visit := func(worker, e int, gram, rhs []float64) {
		s := &workers[worker]
		if s.matrix == nil {
			s.matrix, s.lambda = make([]float64, r*r), make([]float64, r)
		}
		if offset != nil {
			for i := range r {
				for j, o := range offset[e*r:][:r] {
					rhs[i] -= gram[i*r+j] * float64(o)
				}
			}
		}
		if p.block.Multiplier != nil {
			m := p.block.Multiplier[e*r:][:r]
			for i := range r {
				rhs[i] *= float64(m[i])
				for j := range r {
					gram[i*r+j] *= float64(m[i]) * float64(m[j])
				}
			}
		}
		for i := range r {
			s.lambda[i] = p.penalty.At(e, i)
			rhs[i] += s.lambda[i] * p.penalty.Center(i)
		}
		if cholesky.SolveRidge(gram, r, s.lambda, rhs, s.matrix) {
			raised.Add(1)
		}
		for i, v := range rhs {
			p.block.Value[e*r+i] = float32(v)
		}
	}
	if p.sorted != nil {
		p.d.b.(backend.Divided).NormalEquationsByLeaf(p.plan, p.train.Slices(), p.sorted, visit)
	} else {
		p.d.b.NormalEquations(p.plan, p.train.Slices(), p.target, p.weight, visit)
	}
	return backend.ShareEntities(p.d.b, p.plan, p.block.Value, r, raised.Load())
}

// endSweep balances the scales of the cores.
func (a *als) endSweep(bool) {
	a.ridge.Balance(a.d.b, a.d.field, a.d.entityWeights)
	a.evaluateBalanced()
}

// score returns the penalized loss per observation.
func (a *als) score(loss float64) float64 { return a.d.penalizedLoss(a.ridge, loss) }

// failure always returns nil: the end of the sweep checks the loss.
func (a *als) failure() error { return nil }

// forget does nothing, because als keeps no state besides the weights.
func (a *als) forget() {}
