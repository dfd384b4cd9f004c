package backend

import (
	"slices"
	"sort"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// sharedOrder moves values from the order of a plan to that of its leaves, of which each rank has a run of
// entities.
type sharedOrder struct {
	ranks      Ranks
	from, to   []int32 // own cells in the order in which they are sent, and positions of those received
	sent, take []int   // by rank
	source     []int32 // by position: the observation
	first, end int     // the positions of this process
}

// OwnLeaves reports whether each rank has all cells of its leaf entities, as with parts of these. Equations of
// entities then need no messages.
func (p *Plan) OwnLeaves() bool { return p.Share != nil && p.Alone == p.Leaf }

// LeafRuns cuts the entities of the leaf core into one run per rank, given where the cells of each entity start: those
// of its shards if it has all of their cells, and otherwise runs of about equal numbers of cells.
func (p *Plan) LeafRuns(start []int32, ranks int) []int {
	if p.OwnLeaves() {
		return p.Share.Owned
	}
	entities := len(start) - 1
	bounds := Even(int(start[entities]), ranks)
	for r, cell := range bounds {
		bounds[r] = sort.Search(entities, func(e int) bool { return int(start[e]) >= cell })
	}
	bounds[0], bounds[ranks] = 0, entities
	return bounds
}

// shareLeaves returns the leaf order of a shared plan: each rank sends its cells to those that have
// their entities.
func (p *Plan) shareLeaves() *LeafOrder {
	ranks := p.Share.ranks
	size := ranks.Size()
	o := &LeafOrder{Start: make([]int32, len(p.Share.leaves)+1)}
	for e, n := range p.Share.leaves {
		o.Start[e+1] = o.Start[e] + n
	}
	entities := p.LeafRuns(o.Start, size)
	owner := make([]uint16, len(p.Share.leaves))
	for r := range size {
		for e := entities[r]; e < entities[r+1]; e++ {
			owner[e] = uint16(r)
		}
	}
	first, end := p.Share.OwnCells()
	x := &sharedOrder{ranks: ranks, sent: make([]int, size+1)}
	for _, e := range p.LeafEntity[first:end] {
		x.sent[owner[e]+1]++
	}
	for r := range size {
		x.sent[r+1] += x.sent[r]
	}
	x.from = make([]int32, end-first)
	type cell struct{ entity, node, source int32 }
	out := make([]cell, end-first)
	next := slices.Clone(x.sent)
	firstNode, endNode := p.Share.of(p.Share.Nodes)
	for j := firstNode; j < endNode; j++ {
		for c := p.Start[j]; c < p.Start[j+1]; c++ {
			e := p.LeafEntity[c]
			at := &next[owner[e]]
			x.from[*at], out[*at] = c, cell{e, int32(j), p.Source[c]}
			*at++
		}
	}
	x.take = peers.Taken(ranks, x.sent)
	in := make([]cell, x.take[size])
	peers.Pass(ranks, in, out, x.sent, x.take)
	o.Node, x.source = paged.Make[int32](p.pages, p.Cells()), paged.Make[int32](p.pages, p.Cells())
	x.to = make([]int32, len(in))
	position := slices.Clone(o.Start)
	for i, c := range in {
		at := &position[c.entity]
		o.Node[*at], x.source[*at], x.to[i] = c.node, c.source, *at
		*at++
	}
	if len(p.Chain) == 1 {
		GatherValues(ranks, p.Entity[0], p.Share.Nodes, 1) // no more than the core has entities
	}
	x.first, x.end = int(o.Start[entities[ranks.Rank()]]), int(o.Start[entities[ranks.Rank()+1]])
	o.shared = x
	return o
}

// Shared reports whether each rank has a part of the order.
func (o *LeafOrder) Shared() bool { return o.shared != nil }

// Own returns the positions that this process has of a shared order.
func (o *LeafOrder) Own() (from, to int) { return o.shared.first, o.shared.end }

// Source returns the observations in a shared order.
func (o *LeafOrder) Source() []int32 { return o.shared.source }

// Move copies values of the own cells, in plan order, to those of the own entities, in a shared
// leaf order.
func (o *LeafOrder) Move(dst, src []float32) {
	x := o.shared
	out, in := make([]float32, len(x.from)), make([]float32, len(x.to))
	for i, c := range x.from {
		out[i] = src[c]
	}
	peers.Pass(x.ranks, in, out, x.sent, x.take)
	for i, at := range x.to {
		dst[at] = in[i]
	}
}

// Chains returns a plan with the chains of nodes [from, to) of a shared plan, from 0 on, on all ranks.
func (p *Plan) Chains(from, to int) *Plan {
	q := *p
	q.Entity = make([][]int32, len(p.Entity))
	bounds := make([]int, len(p.Share.Nodes))
	for r, j := range p.Share.Nodes {
		bounds[r] = min(max(j, from), to) - from
	}
	for level := range q.Entity {
		q.Entity[level] = p.ownNodes(p.Entity[level], from, to)
		GatherValues(p.Share.ranks, q.Entity[level], bounds, 1)
	}
	q.Changed = make([]uint8, to-from)
	first, end := p.Share.of(p.Share.Nodes)
	if first, end = max(first, from), min(end, to); first < end {
		copy(q.Changed[first-from:], p.Changed[first:end])
	}
	GatherValues(p.Share.ranks, q.Changed, bounds, 1)
	return &q
}

// ownNodes returns the entries of nodes [from, to) that this process has.
func (p *Plan) ownNodes(values []int32, from, to int) []int32 {
	out := make([]int32, to-from)
	first, end := p.Share.of(p.Share.Nodes)
	if first, end = max(first, from), min(end, to); first < end {
		copy(out[first-from:], values[first:end])
	}
	return out
}
