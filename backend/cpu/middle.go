package cpu

import (
	"sort"

	"github.com/kernel-fried-tensor/kft/backend"
)

// The equations of a slice X of the middle core of three, where a is the row of the leaf core at a cell, s its variances,
// and b, v those of the far core at a node:
//
//	H X = sum over nodes  A X (b b' + diag v),   A = sum over the cells of the node  w (a a' + diag s),
//
// X as a matrix of the leaf core's rank by that of the far core. A and B_k = sum over nodes v_k A are formed once per
// entity. Then a product with H costs R^2 multiply-adds per node and R^3, and none per cell: all steps of conjugate
// gradients for a slice take place in cache, where passes would go over all cells once per step.
type middle struct {
	b          *Backend
	p          *backend.Plan
	leaf, far  backend.Slices
	target, w  []float32
	in, out    int // ranks of the far and the leaf core
	transposed bool

	// By node of the present entity:
	nodes         int
	rows, vars, h []float32 // b, v and b^2 + v, in entries each
	matrices      []float32 // A, out x out
	sides         []float32 // sum w y a
	diagonals     []float32 // of A
	products      []float32 // X b
	images        []float32 // A X b

	mixed       []float32 // B_k by k, out x out
	x, y        []float32 // X and H X, in x out
	panel, side []float32 // rows of cells
	ones        []float32
	weighted    [block]float32
}

var _ backend.MiddleSystems = (*Backend)(nil)

// maxMiddle bounds the number of entries of the matrices of an entity, and of the rows of its nodes, which each
// worker has.
const maxMiddle = 1 << 20

// shardPieces is the number of pieces of a shard, whose entities share nothing.
const shardPieces = 4

// MiddleSystems implements backend.MiddleSystems.
func (b *Backend) MiddleSystems(p *backend.Plan, cores []backend.Slices, target, weight []float32, visit func(worker, entity int, s backend.MiddleSystem)) (backend.Runs, bool) {
	if len(p.Chain) != 2 || p.Owner != 1 || p.Alone != p.Chain[1] {
		return backend.Runs{}, false
	}
	leaf, far := cores[p.Leaf], cores[p.Chain[0]]
	if leaf.Cov != nil || far.Cov != nil || leaf.Slice() == 1 || far.Slice() == 1 {
		return backend.Runs{}, false
	}
	if out, in := leaf.Slice(), far.Slice(); max(out*out, in)*far.N+out*out*in > maxMiddle {
		return backend.Runs{}, false
	}
	p.Check(cores)
	d, last := b.divide(p), p.Shapes[p.Alone].N-1
	owner := p.Entity[1]
	b.forEach(d.count()*shardPieces, func(worker, i int) {
		x := &b.workers[worker].middle
		x.b, x.p, x.leaf, x.far, x.target, x.w = b, p, leaf, far, target, weight
		x.in, x.out, x.transposed = far.Slice(), leaf.Slice(), p.Leaf == 0
		shard := d.first + i/shardPieces
		if d.ranks == nil {
			shard = int(p.ByWork[i/shardPieces])
		}
		// A piece has the entities of some of the nodes of a shard.
		first, end := int(p.Shards[shard]), int(p.Shards[shard+1])
		border := func(piece int) int {
			switch node := first + (end-first)*piece/shardPieces; {
			case piece == 0:
				return int(p.Begin[shard])
			case piece == shardPieces || node == end:
				return int(p.Begin[shard+1])
			default:
				return int(owner[node])
			}
		}
		from, to := border(i%shardPieces), min(border(i%shardPieces+1), last)
		j := first + sort.Search(end-first, func(k int) bool { return int(owner[first+k]) >= from })
		for e := from; e < to; e++ {
			at := j
			for j < end && int(owner[j]) == e {
				j++
			}
			x.set(at, j)
			visit(worker, e, x)
		}
	})
	x := &b.workers
	for i := range *x { // the caller's arrays are not kept
		m := &(*x)[i].middle
		m.p, m.target, m.w, m.leaf, m.far = nil, nil, nil, backend.Slices{}, backend.Slices{}
	}
	if d.ranks == nil {
		return backend.RunsOf(nil, nil, last+1), true
	}
	return backend.RunsOf(d.ranks, d.owned(p), last+1), true
}

// set computes the matrices of nodes [from, to), those of an entity.
func (x *middle) set(from, to int) {
	k, dense, in, out := &x.b.chain, &x.b.dense, x.in, x.out
	n := to - from
	x.nodes = n
	x.rows, x.vars, x.h = resize(x.rows, n*in), zeroed(x.vars, n*in), resize(x.h, n*in)
	x.matrices, x.sides, x.diagonals = zeroed(x.matrices, n*out*out), zeroed(x.sides, n*out), resize(x.diagonals, n*out)
	x.products, x.images = resize(x.products, n*out), resize(x.images, n*out)
	x.x, x.y = resize(x.x, in*out), resize(x.y, in*out)
	x.panel, x.side = resize(x.panel, block*out), resize(x.side, max(block*out, in*out))
	if n == 0 {
		return
	}
	for i, e := range x.p.Entity[0][from:to] {
		copy(x.rows[i*in:][:in], x.far.Mean[int(e)*in:])
		if x.far.Var != nil {
			copy(x.vars[i*in:][:in], x.far.Var[int(e)*in:])
		}
	}
	k.product(x.h, x.rows, x.rows)
	k.add(x.h, x.vars)
	for i := range n {
		a, side := x.matrices[i*out*out:][:out*out], x.sides[i*out:][:out]
		x.node(from+i, a, side, x.diagonals[i*out:][:out])
	}
	if x.far.Var != nil {
		x.mixed = resize(x.mixed, in*out*out)
		dense.multiply(x.mixed, out*out, x.vars, 1, in, x.matrices, out*out, in, out*out, n, 0)
	}
}

// node sets A, its diagonal and the sum of w y a of a node. All are zero before, but the diagonal.
func (x *middle) node(j int, a, side, diagonal []float32) {
	k, out := &x.b.chain, x.out
	clear(diagonal)
	for c, last := int(x.p.Start[j]), int(x.p.Start[j+1]); c < last; c += block {
		end := min(c+block, last)
		n, idx := end-c, x.p.LeafEntity[c:end]
		panel, scaled, y := x.panel[:(end-c)*out], x.panel, x.target[c:end]
		k.gatherRows(panel, x.leaf.Mean, idx, nil, out)
		w := x.unit()[:n]
		if x.w != nil {
			w = x.w[c:end]
			k.product(x.weighted[:n], w, y)
			y, scaled = x.weighted[:n], x.side
			k.gatherRows(scaled[:n*out], x.leaf.Mean, idx, w, out)
		}
		k.vecMat(side, y, panel)
		x.b.dense.scaled(1, a, out, scaled, 1, out, panel, out, out, out, n, 1)
		if x.leaf.Var != nil {
			k.gatherSum(diagonal, x.leaf.Var, idx, w)
		}
	}
	for i, v := range diagonal {
		a[i*out+i] += v
		diagonal[i] = a[i*out+i]
	}
}

// unit returns weights of 1 for a block of cells.
func (x *middle) unit() []float32 {
	if x.ones == nil {
		x.ones = make([]float32, block)
		fill(x.ones, 1)
	}
	return x.ones
}

// Gradient implements backend.MiddleSystem.
func (x *middle) Gradient(dst, slice []float32) {
	x.Multiply(dst, slice)
	k, d, in, out := &x.b.chain, &x.b.dense, x.in, x.out
	if x.nodes == 0 {
		return // both are zero
	}
	sides := x.side[:in*out]
	if x.transposed {
		d.multiply(sides, in, x.sides, 1, out, x.rows, in, out, in, x.nodes, 0)
	} else {
		d.multiply(sides, out, x.rows, 1, in, x.sides, out, in, out, x.nodes, 0)
	}
	k.axpy(sides, -1, dst)
	copy(dst, sides)
}

// Diagonal implements backend.MiddleSystem.
func (x *middle) Diagonal(dst []float32) {
	d, in, out := &x.b.dense, x.in, x.out
	switch {
	case x.nodes == 0:
		clear(dst)
	case x.transposed:
		d.multiply(dst, in, x.diagonals, 1, out, x.h, in, out, in, x.nodes, 0)
	default:
		d.multiply(dst, out, x.h, 1, in, x.diagonals, out, in, out, x.nodes, 0)
	}
}

// Multiply implements backend.MiddleSystem.
func (x *middle) Multiply(dst, slice []float32) {
	k, d, in, out, n := &x.b.chain, &x.b.dense, x.in, x.out, x.nodes
	if n == 0 {
		clear(dst)
		return
	}
	from, to := slice, dst
	if x.transposed {
		from, to = x.x, x.y
		d.transpose(from, out, slice, in, out, in)
	}
	d.multiply(x.products, out, x.rows, in, 1, from, out, n, out, in, 0)
	clear(x.images)
	for i := range n {
		k.vecMat(x.images[i*out:][:out], x.products[i*out:][:out], x.matrices[i*out*out:][:out*out])
	}
	d.multiply(to, out, x.rows, 1, in, x.images, out, in, out, n, 0)
	if x.far.Var != nil {
		for i := range in {
			k.vecMat(to[i*out:][:out], from[i*out:][:out], x.mixed[i*out*out:][:out*out])
		}
	}
	if x.transposed {
		d.transpose(dst, in, to, out, in, out)
	}
}
