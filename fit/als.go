package fit

import (
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
	rest  []float32 // y minus the other terms, by observation
	y, w  []float32 // target and weight in plan order
	cg    conjugate
}

type alsTerm struct {
	train       *tt.Train
	first, last *backend.Plan
	pass        *backend.Plan // the cheaper of the two
	mean        []float32     // by observation
}

type blockName struct{ term, core int }

func newALS(d *data, train Observations, steps int) *als {
	a := &als{d: d, steps: steps}
	n := len(d.y)
	a.rest, a.y = make([]float32, n), make([]float32, n)
	if d.w != nil {
		a.w = make([]float32, n)
	}
	for k, t := range d.field.Terms {
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
		for core := range t.Cores {
			a.block = append(a.block, blockName{k, core})
		}
	}
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
	k, core := a.block[i].term, a.block[i].core
	t := &a.terms[k]
	copy(a.rest, a.d.y)
	for other := range a.terms {
		if other != k {
			for n, f := range a.terms[other].mean {
				a.rest[n] -= f
			}
		}
	}
	last := len(t.train.Cores) - 1
	plan := t.pass
	switch {
	case core == 0:
		plan = t.first
	case core == last:
		plan = t.last
	}
	plan.Gather(a.y, a.rest)
	if a.d.w != nil {
		plan.Gather(a.w, a.d.w)
	}
	outer := core == 0 || core == last
	if outer && 4*plan.Nodes()*plan.LeafRank() <= maxNodeVectors {
		a.rows(k, core, plan)
	} else {
		stuck := a.cg.solve(a.d, t.train, core, plan, a.y, a.w, a.ridge, a.d.counts[k][core], a.steps)
		a.run.Raised += int64(stuck)
	}
	t.train.Cores[core].SetPrior()
	if i+1 == len(a.block) || a.block[i+1].term != k {
		a.evaluate(k)
	}
}

// rows solves an outer core's slices exactly.
func (a *als) rows(k, core int, plan *backend.Plan) {
	a.d.passes++
	t := a.terms[k].train
	c := t.Cores[core]
	r := plan.LeafRank()
	scratch := make([][]float64, a.d.b.Threads())
	counts := a.d.counts[k][core]
	var raised atomic.Int64
	a.d.b.Rows(plan, t.Slices(), a.y, a.w, func(worker, e int, gram, rhs []float64) {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, r*r)
		}
		if solveRidge(gram, r, a.ridge.at(counts[e]), rhs, scratch[worker]) {
			raised.Add(1)
		}
		for i, v := range rhs {
			c.Slices.Mean[e*r+i] = float32(v)
		}
	})
	a.run.Raised += raised.Load()
}

// loss returns the summed loss of the training data.
func (a *als) loss() float64 {
	sum := 0.0
	for n, y := range a.d.y {
		f := float32(0)
		for k := range a.terms {
			f += a.terms[k].mean[n]
		}
		r := float64(y) - float64(f)
		sum += weightAt(a.d.w, n) * r * r
	}
	return sum
}

// endSweep evens out the scales. The means are taken anew, for a run that is
// resumed here takes them from the weights as they are now.
func (a *als) endSweep(bool) {
	a.ridge.balance(a.d.field, a.d.counts)
	a.evaluateAll()
}

// forget has nothing to do: the weights are all that a sweep starts from.
func (a *als) forget() {}
