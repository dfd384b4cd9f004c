package cpu

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// panelRows is how many cells' vectors are gathered for one Gram matrix: at
// rank 64 the panel fills half of a 64 KiB share of the second cache. So many
// panels are summed in float32 before they go to float64: a sum over a
// thousand rows loses no more than a digit.
const (
	panelRows = 256
	sumPanels = 4
)

// Rows implements backend.Backend. An entity's cells are gathered from the
// node vectors as panels U; its equations are the sums of U'U and U'y over
// panels, taken in float64. Targets and weights are brought into the order of
// the entities first: read in plan order and written to as many places at a
// time as there are entities, they stay in cache.
func (b *Backend) Rows(p *backend.Plan, cores []backend.Slices, target, weight []float32, visit backend.RowFunc) {
	p.Check(cores)
	r := p.LeafRank()
	b.nodeVectors(p, cores)
	order := p.ByLeaf()
	b.layTargets(order, target, weight)
	entities := p.Shapes[p.Leaf].N
	// Entities are taken in runs, so that small ones do not each cost an
	// atomic operation.
	run := max(1, entities/1024)
	b.each((entities+run-1)/run, func(worker, i int) {
		ws := &b.workers[worker]
		ws.fitRows(r)
		for e := i * run; e < min((i+1)*run, entities); e++ {
			if order.Start[e] < order.Start[e+1] {
				b.entityRows(ws, order, e, r, weight != nil)
				visit(worker, e, ws.gram64, ws.rhs64)
			}
		}
	})
}

func (w *workspace) fitRows(r int) {
	w.panel = resize(w.panel, panelRows*r)
	w.rhs = resize(w.rhs, r)
	w.gram = resize(w.gram, r*r)
	w.gram64 = resize(w.gram64, r*r)
	w.rhs64 = resize(w.rhs64, r)
}

// nodeVectors fills b.vectors with each node's vector.
func (b *Backend) nodeVectors(p *backend.Plan, cores []backend.Slices) {
	r := p.LeafRank()
	b.vectors = resize(b.vectors, p.Nodes()*r)
	s := pass{b: b, p: p, cores: cores, job: &backend.Job{}, stride: r}
	b.each(len(p.Shards)-1, func(worker, shard int) {
		w := &b.workers[worker].sweep
		w.pass = &s
		w.fit(shard)
		from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
		if len(p.Chain) == 2 && p.Owner == 1 {
			w.bundleVectors(from, to)
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

// bundleVectors computes the vectors of nodes [from, to) as bundles does.
func (w *sweep) bundleVectors(from, to int) {
	x, first, second := &w.bundle, &w.levels[0], &w.levels[1]
	in, out := first.size, second.out
	x.fit(in, out, second.size)
	for j := from; j < to; {
		end := bundleEnd(w.p, j, to)
		g := second.core[int(second.entity[j])*second.size:][:second.size]
		w.b.chain.gatherRows(x.below, first.core, first.entity[j:end], nil, in)
		w.b.timesSlice(w.b.vectors[j*out:], out, x.below, in, end-j, g, in, out, w.p.Leaf == 0, x.turned)
		j = end
	}
}

// layTargets fills b.target and, with weights, b.scale in the order of the
// entities. Rows and targets are scaled by sqrt(w): both sums then carry w.
func (b *Backend) layTargets(order *backend.LeafOrder, target, weight []float32) {
	b.target = resize(b.target, len(target))
	if weight != nil {
		b.scale = resize(b.scale, len(target))
	}
	b.pieces(len(target), func(from, to int) {
		places := order.Place[from:to]
		if weight == nil {
			for i, y := range target[from:to] {
				b.target[places[i]] = y
			}
			return
		}
		for i, y := range target[from:to] {
			s := float32(math.Sqrt(float64(weight[from+i])))
			b.scale[places[i]], b.target[places[i]] = s, s*y
		}
	})
}

// entityRows sums the equations of one entity into ws.gram64 and ws.rhs64.
func (b *Backend) entityRows(ws *workspace, order *backend.LeafOrder, e, r int, weighted bool) {
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
