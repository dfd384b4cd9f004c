package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A Chunk is a set of cells prepared for a field, with one plan per term. Arrays
// over the cells are in the order in which the cells were given.
type Chunk struct {
	plans  []*backend.Plan
	terms  []*Train        // of the field that the cells were planned for
	all    []*backend.Plan // by these terms
	cells  int
	buffer []float32   // in plan order
	value  [][]float32 // by term; nil for a term that is a group of its own
	series []*seriesterm.Cells

	// Over several ranks each plans and evaluates a part of the cells.
	spread *observed.Spread // nil if this process has all cells
	own    []float32        // values of a term at the cells of this rank

	entities [][]int32 // see observed.Planned; nil if they are not known
}

// NewChunk plans the cells with the given codes, one column per mode. Over the ranks of a backend,
// all call it together.
func (f *Field) NewChunk(b backend.Backend, codes [][]int32) *Chunk {
	c := &Chunk{cells: len(codes[0]), buffer: backend.Make[float32](b, len(codes[0])), plans: make([]*backend.Plan, len(f.Terms)), value: make([][]float32, len(f.Terms))}
	atOnce := min(b.Threads(), 2) // the loops of a plan use all threads
	if f.Group == nil && len(f.Series) == 0 {
		if c.spread = observed.NewSpread(b, c.cells); c.spread != nil {
			c.own, atOnce = backend.Make[float32](b, c.cells), 1 // all ranks plan in the same order
		}
	}
	parallel.For(atOnce, len(f.Terms), func(k int) {
		t := f.Terms[k]
		if c.spread != nil {
			ends := c.spread.Ends(t.Shapes(), t.LookupRows(codes))
			c.plans[k] = cheaperPlan(&ends)
			return
		}
		index := t.LookupOn(b, b.Threads(), codes)
		c.plans[k] = CheaperPlan(b, t.Shapes(), index)
		backend.FreeAll(b, index)
		if len(f.Partners(k)) > 0 {
			c.value[k] = backend.Make[float32](b, c.cells)
		}
	})
	for _, s := range f.Series {
		c.series = append(c.series, s.NewCells(b.Threads(), codes))
	}
	c.terms, c.all = slices.Clone(f.Terms), c.plans
	return c
}

// Reshape adapts the chunk to a field that has some of the terms for which it was made, with other
// ranks perhaps. The leaf cores of their plans stay.
func (c *Chunk) Reshape(b backend.Backend, f *Field) {
	c.plans, c.value = make([]*backend.Plan, len(f.Terms)), make([][]float32, len(f.Terms))
	for k, t := range f.Terms {
		p := c.all[slices.Index(c.terms, t)]
		p.Shapes = t.Shapes()
		c.plans[k] = p
		if len(f.Partners(k)) > 0 {
			c.value[k] = backend.Make[float32](b, c.cells)
		}
	}
}

// ChunkOf returns a chunk of cells that are planned already, for fields without products and series.
func (f *Field) ChunkOf(b backend.Backend, cells int, p *observed.Planned) *Chunk {
	c := &Chunk{cells: cells, buffer: backend.Make[float32](b, cells), plans: p.Plans, value: make([][]float32, len(f.Terms)), spread: p.Spread}
	if p.Spread != nil {
		c.own, c.entities = backend.Make[float32](b, cells), p.Entities
	}
	return c
}

// CheaperPlan plans cells from the end of the train whose passes cost less.
func CheaperPlan(b backend.Backend, shapes []backend.Shape, index [][]int32) *backend.Plan {
	return cheaperPlan(&backend.Ends{Shapes: shapes, Cells: len(index[0]), Threads: b.Threads(),
		Plan: func(leaf backend.LeafEnd) *backend.Plan {
			return backend.NewPlanOn(b, b.Threads(), shapes, index, leaf)
		},
		Combinations: func(chain []int) int { return backend.Combinations(b.Threads(), shapes, index, chain) }})
}

func cheaperPlan(ends *backend.Ends) *backend.Plan {
	cheaper, other := ends.Cheaper(nil)
	other.Free()
	return cheaper
}

// Plan returns the plan of a term.
func (c *Chunk) Plan(term int) *backend.Plan { return c.plans[term] }

// Cells returns the number of cells.
func (c *Chunk) Cells() int { return c.cells }

// Own returns the cells that this process evaluates: all of them, or over several ranks a part.
func (c *Chunk) Own() (from, to int) {
	if c.spread == nil {
		return 0, c.cells
	}
	return c.spread.Own()
}

// Sum adds the values of pieces of the cells, see parallel.Reduce. Over several ranks each computes those of its own.
func (c *Chunk) Sum(threads int, part func(from, to int) float64) float64 {
	if c.spread == nil {
		return parallel.Sum(threads, c.cells, part)
	}
	return observed.SpreadReduce(c.spread, part, func(a, b float64) float64 { return a + b })
}

// Gather copies values of the own cells to dst in the order of the plan of a term, and returns the plan.
func (c *Chunk) Gather(b backend.Backend, term int, dst, src []float32) *backend.Plan {
	if c.spread != nil {
		c.spread.Gather(c.plans[term], dst, src)
	} else {
		backend.Gather(b, c.plans[term], dst, src)
	}
	return c.plans[term]
}

// Free releases the plans.
func (c *Chunk) Free() {
	for _, p := range c.plans {
		p.Free()
	}
}

// Eval writes the moments of the field at the cells of the chunk to dst and returns
// the pullback. Given the adjoint of the mean at each own cell, the pullback writes the
// gradient with respect to the slices of every core whose gradient has memory. It
// is valid until the cores change or the chunk is used for another evaluation.
func (f *Field) Eval(b backend.Backend, dst Moments, c *Chunk) (pull func(adjoint []float32, grad Gradients)) {
	pull = f.EvalOwn(b, dst, c)
	if c.spread != nil {
		c.spread.Complete(dst.Mean)
	}
	return pull
}

// EvalOwn is Eval for the own cells only.
func (f *Field) EvalOwn(b backend.Backend, dst Moments, c *Chunk) (pull func(adjoint []float32, grad Gradients)) {
	from, to := c.Own()
	f.fillOffset(b.Threads(), dst.Mean[from:to])
	for k, t := range f.Terms {
		if slices := t.Slices(); len(slices) == 1 && c.spread == nil && c.value[k] == nil {
			c.AddEffect(b, k, dst.Mean, slices[0].Mean)
			continue
		}
		b.Pass(c.plans[k], t.Slices(), &backend.Job{Mean: c.buffer, Local: c.spread != nil})
		c.addTerm(b, k, dst.Mean)
	}
	f.addProducts(dst.Mean, c.value)
	f.addSeries(b, dst.Mean, nil, c.series)
	return func(adjoint []float32, grad Gradients) { f.Pull(b, c, adjoint, grad, nil) }
}

// Pull is the pullback of Eval, which a field without products of terms does not need before it.
// Over several ranks, the gradients of the leaf cores of the terms k with own[k] are only those of
// [Chunk.OwnLeaves]; own may be nil.
func (f *Field) Pull(b backend.Backend, c *Chunk, adjoint []float32, grad Gradients, own []bool) {
	for k, t := range f.Terms {
		if !wanted(grad[k]) {
			continue
		}
		plan := c.Gather(b, k, c.buffer, adjoint)
		for _, j := range f.Partners(k) {
			for cell, source := range plan.Source {
				c.buffer[cell] *= c.value[j][source]
			}
		}
		b.Pass(plan, t.Slices(), &backend.Job{Adjoint: backend.Given, Target: c.buffer, Grad: grad[k], OwnEntities: own != nil && own[k]})
	}
}

// OwnLeaves returns the leaf core of the plan of a term and where its entities of each rank start,
// if each rank has all cells of its own; otherwise nil.
func (c *Chunk) OwnLeaves(term int) (core int, bounds []int) {
	p := c.plans[term]
	if !p.OwnLeaves() {
		return 0, nil
	}
	return p.Leaf, p.Share.Owned
}

// AddEffect adds the values of a term of one core, given by entity, to dst at the own cells.
func (c *Chunk) AddEffect(b backend.Backend, term int, dst, values []float32) {
	plan := c.plans[term]
	switch {
	case c.entities != nil && c.entities[term] != nil: // no values travel
		first, _ := c.Own()
		c.spread.Blocks(func(from, to int) {
			for i, e := range c.entities[term][from-first : to-first] {
				dst[from+i] += values[e]
			}
		})
	case c.spread != nil:
		b.Pass(plan, []backend.Slices{{Shape: plan.Shapes[0], Mean: values}}, &backend.Job{Mean: c.buffer, Local: true})
		c.addTerm(b, term, dst)
	default:
		parallel.Parts(b.Threads(), c.cells, func(from, to int) {
			entities := plan.LeafEntity[from:to]
			for cell, source := range plan.Source[from:to] {
				dst[source] += values[entities[cell]]
			}
		})
	}
}

// AddDifference adds the difference of the values of a term with two values of its slices, times a
// factor, to dst at the own cells. The slices change from the first to the second by the function
// change. scratch has the length of dst.
func (c *Chunk) AddDifference(b backend.Backend, term int, dst, scratch []float32, cores []backend.Slices, change func(), factor float32) {
	plan := c.plans[term]
	b.Pass(plan, cores, &backend.Job{Mean: c.buffer, Local: c.spread != nil})
	change()
	b.Pass(plan, cores, &backend.Job{Mean: scratch, Local: c.spread != nil})
	from, to := 0, c.cells
	if c.spread != nil {
		from, to = c.spread.OwnCells(plan)
	}
	parallel.Blocks(b.Threads(), to-from, func(a, e int) {
		buffer := c.buffer[from+a : from+e]
		for i, v := range scratch[from+a : from+e] {
			buffer[i] = (buffer[i] - v) * factor
		}
	})
	c.addTerm(b, term, dst)
}

// addTerm adds the values of a term, which are in the buffer, to dst, or keeps them if it is a factor.
func (c *Chunk) addTerm(b backend.Backend, k int, dst []float32) {
	switch {
	case c.spread != nil:
		c.spread.Scatter(c.plans[k], c.own, c.buffer)
		c.spread.Blocks(func(from, to int) {
			for i, v := range c.own[from:to] {
				dst[from+i] += v
			}
		})
	case c.value[k] != nil:
		backend.Scatter(b, c.plans[k], c.value[k], c.buffer)
	default:
		parallel.Parts(b.Threads(), c.cells, func(from, to int) {
			for cell, source := range c.plans[k].Source[from:to] {
				dst[source] += c.buffer[from+cell]
			}
		})
	}
}
