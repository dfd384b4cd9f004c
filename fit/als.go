package fit

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

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
	d     *data
	run   *Run
	ridge Ridge
	steps int // conjugate gradient steps a block
	terms []alsTerm
	block []blockName

	rest   []float32 // what a term's factor should be, by observation
	weight []float32 // and with what weight; nil means 1
	y, w   []float32 // the same in plan order
	cg     conjugate
}

type alsTerm struct {
	train       *tt.Train
	first, last *backend.Plan
	pass        *backend.Plan // the cheaper of the two
	mean        []float32     // by observation
}

// blockName says where a block of weights is.
type blockName struct{ term, core, block int }

func newALS(d *data, train Observations, steps int) *als {
	a := &als{d: d, steps: steps}
	n := len(d.y)
	a.rest, a.y = make([]float32, n), make([]float32, n)
	if d.w != nil || d.field.Group != nil {
		a.weight, a.w = make([]float32, n), make([]float32, n)
	}
	for _, t := range d.field.Terms {
		index := t.Lookup(train.Codes)
		term := alsTerm{train: t, mean: make([]float32, n)}
		var wait sync.WaitGroup
		wait.Go(func() { term.first = backend.NewPlan(t.Shapes(), index, backend.First) })
		if len(t.Cores) > 1 {
			term.last = backend.NewPlan(t.Shapes(), index, backend.Last)
		}
		wait.Wait()
		term.pass = term.first
		if term.last != nil && term.last.Work() < term.first.Work() {
			term.pass = term.last
		}
		a.terms = append(a.terms, term)
	}
	a.block = blockNames(d.field)
	return a
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

func (a *als) evaluateAll() {
	for k := range a.terms {
		a.evaluate(k)
	}
}

// evaluate brings a term's mean up to date.
func (a *als) evaluate(k int) {
	t := &a.terms[k]
	a.d.pass(t.pass, t.train.Slices(), &backend.Job{Mean: a.y})
	t.pass.Scatter(t.mean, a.y)
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

// tinyFactor is the square of partners' values below which an observation does
// not count for a factor.
const tinyFactor = 1e-12

// noTerm leaves out no term.
const noTerm = -1

// leave fills rest and weight with what is left for a term: y minus the other
// groups, divided by the term's partners m, with weight w m^2.
func (a *als) leave(k int) {
	copy(a.rest, a.d.y)
	var partners []int
	if k != noTerm {
		partners = a.d.field.Partners(k)
	}
	for j := range a.terms {
		if j == k || slices.Contains(partners, j) {
			continue
		}
		others := a.d.field.Partners(j)
		if len(others) > 0 && others[0] < j {
			continue // counted with its group's first
		}
		for n, f := range a.terms[j].mean {
			for _, o := range others {
				f *= a.terms[o].mean[n]
			}
			a.rest[n] -= f
		}
	}
	if a.weight == nil {
		return
	}
	for n := range a.weight {
		w, m := float32(weightAt(a.d.w, n)), float32(1)
		for _, j := range partners {
			m *= a.terms[j].mean[n]
		}
		if m*m < tinyFactor {
			a.weight[n], a.rest[n] = 0, 0 // says nothing of this factor, and a quotient would overflow
			continue
		}
		a.weight[n] = w * m * m
		a.rest[n] /= m
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
			rhs[i] += s.lambda[i] * p.penalty.mean
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

// loss returns the summed loss of the training data.
func (a *als) loss() float64 {
	a.leave(noTerm)
	sum := 0.0
	for n, r := range a.rest {
		sum += weightAt(a.d.w, n) * float64(r) * float64(r)
	}
	return sum
}

// endSweep evens out the scales. The means are taken anew, for a run that is
// resumed here takes them from the weights as they are now.
func (a *als) endSweep(bool) {
	a.ridge.balance(a.d.b, a.d.field, a.d.counts)
	a.evaluateAll()
}

// forget has nothing to do: the weights are all that a sweep starts from.
func (a *als) forget() {}
