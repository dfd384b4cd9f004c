package cpu

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// panelRows is the number of cells whose vectors are gathered for one Gram
// matrix: at rank 64 the panel fills 64 KiB of the second-level cache.
// sumPanels panels are summed in float32 before they are added in float64: a
// sum over a thousand rows loses no more than one digit.
const (
	panelRows = 256
	sumPanels = 4
)

// NormalEquations implements backend.Backend. The cells of an entity are
// gathered from the node vectors as panels U; its equations are the sums of U'U
// and U'y over panels, in float64. Targets and weights are first sorted by
// entity: reading them in plan order and writing to one position per entity at
// a time stays in cache.
func (b *Backend) NormalEquations(p *backend.Plan, cores []backend.Slices, target, weight []float32, visit backend.EquationsFunc) {
	p.Check(cores)
	if len(p.Chain) == 0 {
		b.effectEquations(p, target, weight, visit)
		return
	}
	order := p.ByLeaf(b.threads)
	b.sortTargets(order, target, weight)
	b.solveLeaves(p, cores, order, weight != nil, visit)
}

// NormalEquationsByLeaf implements backend.Divided.
func (b *Backend) NormalEquationsByLeaf(p *backend.Plan, cores []backend.Slices, target []float32, visit backend.EquationsFunc) {
	p.Check(cores)
	kept := b.target
	b.target = target
	b.solveLeaves(p, cores, p.ByLeaf(b.threads), false, visit)
	b.target = kept
}

// solveLeaves forms the equations of the entities of this process, with b.target and b.scale in
// leaf order.
func (b *Backend) solveLeaves(p *backend.Plan, cores []backend.Slices, order *backend.LeafOrder, weighted bool, visit backend.EquationsFunc) {
	r := p.LeafRank()
	b.nodeVectors(p, cores)
	first, end := b.entityRange(p, b.entityBounds(p, order))
	// Entities are processed in runs, so that small ones do not each cost an
	// atomic operation.
	run := max(1, p.Shapes[p.Leaf].N/1024)
	b.forEach((end-first+run-1)/run, func(worker, i int) {
		ws := &b.workers[worker]
		ws.reserveRows(r)
		for e := first + i*run; e < min(first+(i+1)*run, end); e++ {
			if order.Start[e] < order.Start[e+1] {
				b.entityEquations(ws, order, e, r, weighted)
				visit(worker, e, ws.gram64, ws.rhs64)
			}
		}
	})
}

func (w *workspace) reserveRows(r int) {
	w.panel = resize(w.panel, panelRows*r)
	w.rhs = resize(w.rhs, r)
	w.gram = resize(w.gram, r*r)
	w.gram64 = resize(w.gram64, r*r)
	w.rhs64 = resize(w.rhs64, r)
}

// nodeVectors fills b.vectors with the vector of each node.
func (b *Backend) nodeVectors(p *backend.Plan, cores []backend.Slices) {
	r := p.LeafRank()
	b.vectors = b.resizeLong(b.vectors, p.Nodes()*r)
	s := pass{b: b, p: p, cores: cores, job: &backend.Job{}, division: b.divide(p), stride: r}
	defer func() {
		if s.ranks != nil && !p.OwnLeaves() {
			backend.GatherValues(s.ranks, b.vectors, s.nodes(p), r)
		}
	}()
	b.forEachShard(p, s.division, func(worker, shard int) {
		w := &b.workers[worker].sweep
		w.pass = &s
		w.prepare(shard)
		from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
		if len(p.Chain) == 2 && p.Owner == 1 {
			w.batchVectors(from, to)
			return
		}
		for j := from; j < to; j++ {
			w.advance(j, int(p.Changed[j]))
			value := unit
			if top := len(w.levels) - 1; top >= 0 {
				value = w.levels[top].value
			}
			copy(b.vectors[j*r:][:r], value)
		}
	})
}

// batchVectors computes the vectors of nodes [from, to) in batches.
func (w *sweep) batchVectors(from, to int) {
	x, first, second := &w.batch, &w.levels[0], &w.levels[1]
	in, out := first.size, second.out
	x.prepare(in, out, second.size)
	for j := from; j < to; {
		end := batchEnd(w.p, j, to)
		g := second.core[int(second.entity[j])*second.size:][:second.size]
		w.b.chain.gatherRows(x.below, first.core, first.entity[j:end], nil, in)
		w.b.timesSlice(w.b.vectors[j*out:], out, x.below, in, end-j, g, in, out, w.p.Leaf == 0, x.transposed)
		j = end
	}
}

// sortTargets fills b.target and, with weights, b.scale in the order of the
// entities. Rows and targets are scaled by sqrt(w), so that both sums carry w.
func (b *Backend) sortTargets(order *backend.LeafOrder, target, weight []float32) {
	b.target = b.resizeLong(b.target, len(target))
	if weight != nil {
		b.scale = b.resizeLong(b.scale, len(target))
	}
	b.forRanges(len(target), func(from, to int) {
		positions := order.Position[from:to]
		if weight == nil {
			for i, y := range target[from:to] {
				b.target[positions[i]] = y
			}
			return
		}
		for i, y := range target[from:to] {
			s := float32(math.Sqrt(float64(weight[from+i])))
			b.scale[positions[i]], b.target[positions[i]] = s, s*y
		}
	})
}

// entityEquations sums the equations of one entity into ws.gram64 and ws.rhs64.
func (b *Backend) entityEquations(ws *workspace, order *backend.LeafOrder, e, r int, weighted bool) {
	clear(ws.gram64)
	clear(ws.rhs64)
	first, last := int(order.Start[e]), int(order.Start[e+1])
	for first < last {
		sumEnd := min(first+sumPanels*panelRows, last)
		clear(ws.gram)
		clear(ws.rhs)
		for ; first < sumEnd; first += panelRows {
			end := min(first+panelRows, sumEnd)
			var scale []float32
			if weighted {
				scale = b.scale[first:end]
			}
			panel := ws.panel[:(end-first)*r]
			b.chain.gatherRows(panel, b.vectors, order.Node[first:end], scale, r)
			b.chain.vecMat(ws.rhs, b.target[first:end], panel)
			Gram(b.path, ws.gram, panel, end-first, r)
		}
		for i, v := range ws.rhs {
			ws.rhs64[i] += float64(v)
		}
		sums := ws.gram64[:len(ws.gram)]
		for i, v := range ws.gram {
			sums[i] += float64(v)
		}
	}
}
