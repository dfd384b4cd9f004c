package cpu

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// panelRows is how many cells' vectors are gathered for one Gram matrix: at
// rank 64 the panel fills half of a 64 KiB share of the second cache, and a
// float32 sum over so few rows loses no more than a digit.
const panelRows = 256

// Rows implements backend.Backend. An entity's cells are gathered from the
// node vectors as panels U; its equations are the sums of U'U and U'y over
// panels, taken in float64.
func (b *Backend) Rows(p *backend.Plan, cores []backend.Slices, target, weight []float32, visit backend.RowFunc) {
	p.Check(cores)
	r := p.LeafRank()
	b.nodeVectors(p, cores)
	order := p.ByLeaf()
	entities := p.Shapes[p.Leaf].N
	// Entities are taken in runs, so that small ones do not each cost an
	// atomic operation.
	run := max(1, entities/1024)
	b.each((entities+run-1)/run, func(worker, i int) {
		ws := &b.workers[worker]
		ws.fitRows(r)
		for e := i * run; e < min((i+1)*run, entities); e++ {
			if order.Start[e] < order.Start[e+1] {
				b.entityRows(ws, order, e, r, target, weight)
				visit(worker, e, ws.gram64, ws.rhs64)
			}
		}
	})
}

func (w *workspace) fitRows(r int) {
	w.panel = resize(w.panel, panelRows*r)
	w.scale = resize(w.scale, panelRows)
	w.product = resize(w.product, panelRows+r)
	w.gram = resize(w.gram, r*r)
	w.gram64 = resize(w.gram64, r*r)
	w.rhs64 = resize(w.rhs64, r)
}

// nodeVectors fills b.vectors with each node's vector.
func (b *Backend) nodeVectors(p *backend.Plan, cores []backend.Slices) {
	r := p.LeafRank()
	b.vectors = resize(b.vectors, p.Nodes()*r)
	b.each(len(p.Shards)-1, func(worker, s int) {
		scratch := &b.workers[worker].chainScratch
		scratch.fit(p)
		from := int(p.Shards[s])
		for j := from; j < int(p.Shards[s+1]); j++ {
			copy(b.vectors[j*r:][:r], b.node(p, cores, scratch.value, j, j == from))
		}
	})
}

// entityRows sums the equations of one entity into ws.gram64 and ws.rhs64.
func (b *Backend) entityRows(ws *workspace, order *backend.LeafOrder, e, r int, target, weight []float32) {
	clear(ws.gram64)
	clear(ws.rhs64)
	for from := int(order.Start[e]); from < int(order.Start[e+1]); from += panelRows {
		to := min(from+panelRows, int(order.Start[e+1]))
		cells, nodes := order.Cell[from:to], order.Node[from:to]
		n := to - from
		y, rhs := ws.product[:n], ws.product[panelRows:][:r]
		var scale []float32
		if weight == nil {
			for i, c := range cells {
				y[i] = target[c]
			}
		} else {
			// Rows and targets are scaled by sqrt(w): both sums then carry w.
			scale = ws.scale[:n]
			for i, c := range cells {
				s := float32(math.Sqrt(float64(weight[c])))
				scale[i], y[i] = s, s*target[c]
			}
		}
		panel := ws.panel[:n*r]
		b.chain.gatherRows(panel, b.vectors, nodes, scale, r)
		clear(rhs)
		b.chain.vecMat(rhs, y, panel)
		clear(ws.gram)
		Gram(b.path, ws.gram, panel, n, r)
		for i, v := range rhs {
			ws.rhs64[i] += float64(v)
		}
		for i, v := range ws.gram {
			ws.gram64[i] += float64(v)
		}
	}
}
