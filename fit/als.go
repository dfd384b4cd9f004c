package fit

import "sync/atomic"

// maxNodeVectors bounds the memory of exact rows, 4 R bytes a node of the
// plan. A core beyond it is updated by conjugate gradients, like an inner one.
const maxNodeVectors = 1 << 30

// als minimises over one core after another with the others fixed: exactly for
// outer cores, whose slices have normal equations of their own rank, and by a
// few steps of preconditioned conjugate gradients for inner ones. Terms take
// turns at what the others leave.
//
// A sweep costs R^2 multiply-adds a cell for each outer core and, for three
// cores, a pass a conjugate gradient step for the inner one.
type als struct {
	remainder
	run   *Run
	ridge Ridge
	steps int // conjugate gradient steps a block
	block []blockName
	cg    conjugate
}

// blockName says where a block of weights is.
type blockName struct{ term, core, block int }

func newALS(d *data, train Observations, steps int) *als {
	return &als{remainder: newRemainder(d, train), steps: steps, block: blockNames(d.field)}
}

func (a *als) blocks() int { return len(a.block) }

func (a *als) blockName(i int) string {
	return blockLabel(a.d.field, a.block[i])
}

// begin takes up a run whose weights were set from outside.
func (a *als) begin(r *Run, ridge Ridge) {
	a.run, a.ridge = r, ridge
	a.evaluateAll()
}

// update minimises over block i.
func (a *als) update(i int) {
	at := a.block[i]
	t := &a.terms[at.term]
	c := t.train.Cores[at.core]
	block := c.Blocks()[at.block]
	a.leave(at.term)
	last := len(t.train.Cores) - 1
	plan := t.pass
	switch {
	case at.core == 0:
		plan = t.first
	case at.core == last:
		plan = t.last
	}
	p := &blockProblem{d: a.d, train: t.train, core: at.core, block: block, plan: plan, y: a.y, counts: a.d.counts[at.term][at.core], steps: a.steps}
	p.penalty = a.ridge.of(c, block, p.counts)
	plan.Gather(a.y, a.rest)
	if a.weight != nil {
		plan.Gather(a.w, a.weight)
		p.w = a.w
	}
	outer := at.core == 0 || at.core == last
	if outer && block.Map == nil && 4*plan.Nodes()*plan.LeafRank() <= maxNodeVectors {
		a.run.Raised += solveRows(p)
	} else {
		a.run.Raised += int64(a.cg.solve(p))
	}
	c.Refresh(a.d.b, block.Map != nil)
	if i+1 == len(a.block) || a.block[i+1].term != at.term {
		a.evaluate(at.term)
	}
}

// solveRows solves an outer core's free slices exactly and returns how many
// systems were singular.
func solveRows(p *blockProblem) int64 {
	p.d.passes++
	c := p.train.Cores[p.core]
	r := p.plan.LeafRank()
	type scratch struct{ matrix, lambda []float64 }
	workers := make([]scratch, p.d.b.Threads())
	var raised atomic.Int64
	offset := c.Offset()
	p.d.b.Rows(p.plan, p.train.Slices(), p.y, p.w, func(worker, e int, gram, rhs []float64) {
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
			s.lambda[i] = p.penalty.at(e, i)
			rhs[i] += s.lambda[i] * p.penalty.drawnTo(i)
		}
		if solveRidge(gram, r, s.lambda, rhs, s.matrix) {
			raised.Add(1)
		}
		for i, v := range rhs {
			p.block.Value[e*r+i] = float32(v)
		}
	})
	return raised.Load()
}

// endSweep evens out the scales. The means are taken anew, for a run that is
// resumed here takes them from the weights as they are now.
func (a *als) endSweep(bool) {
	a.ridge.balance(a.d.b, a.d.field, a.d.counts)
	a.evaluateAll()
}

// score returns the penalised loss.
func (a *als) score(loss float64) float64 { return a.ridge.score(a.d, loss) }

// failure is none: a loss that is not finite is found at the end of the sweep.
func (a *als) failure() error { return nil }

// forget has nothing to do: the weights are all that a sweep starts from.
func (a *als) forget() {}
