package backend

import (
	"slices"
	"sort"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A Share tells which runs of a plan the ranks have. The arrays of a shared plan have the length of the
// whole, but only the entries of the own nodes and cells are set, and in a reserved store
// (package paged) only these take memory.
type Share struct {
	Shards, Nodes, Cells []int // by rank: where its run starts
	Owned                []int // by rank: where its entities of the owner start; without a chain those of its first cell

	ranks    Ranks
	computed []float64 // see Plan.computed
	leaves   []int32   // number of cells by entity of the leaf core
}

// of returns the run of this process.
func (s *Share) of(bounds []int) (from, to int) {
	return bounds[s.ranks.Rank()], bounds[s.ranks.Rank()+1]
}

// OwnCells returns the cells of this process.
func (s *Share) OwnCells() (from, to int) { return s.of(s.Cells) }

// OwnNodes returns the nodes of this process.
func (s *Share) OwnNodes() (from, to int) { return s.of(s.Nodes) }

// A Lookup writes the entities of a core at some observations to dst.
type Lookup func(core int, dst, rows []int32)

// NewSharedPlan is NewPlan of n observations over ranks: each has the shards, or without a chain the blocks
// of cells, that it computes. All ranks must call it. The plan is the whole one, on all of them, if it has
// fewer shards than there are ranks. Cost for N observations and P ranks: two lookups of one core at all
// of them, and two sorts of about N/P.
func NewSharedPlan(b Backend, ranks Ranks, shapes []Shape, n int, lookup Lookup, leaf LeafEnd) *Plan {
	CheckTrain(shapes)
	p := orient(Pages(b), shapes, leaf)
	s := sharer{Plan: p, ranks: ranks, threads: b.Threads(), n: n, lookup: lookup}
	p.Share = &Share{ranks: ranks, leaves: s.count(p.Leaf)}
	if len(p.Chain) == 0 {
		s.shareEffect()
		return p
	}
	cells := p.Share.leaves
	if HasParts(shapes, p.Leaf, n) {
		s.part, s.partStart = p.leafParts(cells, n)
		cells = s.byPart(cells)
	} else {
		cells = s.count(s.first())
	}
	nodes := s.countNodes(cells)
	total := 0
	for _, n := range nodes {
		total += int(n)
	}
	p.cutShards(n, total, func(add addNodes) {
		last := -1 // unit with nodes
		for u, n := range nodes {
			if n > 0 {
				add(s.begin(u, last), true, int(n), int(cells[u]))
				last = u
			}
		}
	})
	if len(p.Shards)-1 < ranks.Size() {
		return s.whole(shapes, leaf)
	}
	s.fill(cells, nodes)
	return p
}

// sharer builds a shared plan. Shards are cut between units: entities of the owner, or parts of the leaf
// entities.
type sharer struct {
	*Plan
	ranks           Ranks
	threads         int
	n               int // observations
	lookup          Lookup
	part, partStart []int32 // see planBuilder
}

func (s *sharer) first() int { return (&planBuilder{Plan: s.Plan, part: s.part}).first() }

// byPart adds numbers by leaf entity to those by part.
func (s *sharer) byPart(count []int32) []int32 {
	sums := make([]int32, len(s.partStart))
	for e, n := range count {
		sums[s.part[e]] += n
	}
	return sums
}

// begin returns the first entity of the core Alone of a rank or shard that begins with a unit, given the last unit
// with nodes before it.
func (s *sharer) begin(unit, last int) int32 {
	if s.part != nil {
		return s.partStart[unit]
	}
	return int32(last + 1)
}

// entities returns the entities of the core that comes first, of the units [from, to) of all.
func (s *sharer) entities(from, to int) (first, end int) {
	if s.part == nil {
		return from, to
	}
	at := func(unit int) int {
		if unit < len(s.partStart) {
			return int(s.partStart[unit])
		}
		return s.Shapes[s.Leaf].N
	}
	return at(from), at(to)
}

// lookupRange looks up consecutive observations.
func (s *sharer) lookupRange(core int, dst []int32, from int, scratch *[]int32) {
	*scratch = (*scratch)[:0]
	for i := range dst {
		*scratch = append(*scratch, int32(from+i))
	}
	s.lookup(core, dst, *scratch)
}

// count returns the number of observations by entity of a core.
func (s *sharer) count(core int) []int32 {
	parts := make([][]int32, s.threads)
	parallel.For(s.threads, s.threads, func(t int) {
		n := make([]int32, s.Shapes[core].N)
		from, to := s.n*t/s.threads, s.n*(t+1)/s.threads
		block, rows := make([]int32, parallel.Block), make([]int32, 0, parallel.Block)
		for ; from < to; from += len(block) {
			block = block[:min(len(block), to-from)]
			s.lookupRange(core, block, from, &rows)
			for _, e := range block {
				n[e]++
			}
		}
		parts[t] = n
	})
	for _, n := range parts[1:] {
		for e, v := range n {
			parts[0][e] += v
		}
	}
	return parts[0]
}

// build plans the observations whose entity of the core that comes first is in [from, to), in increasing
// order, as a plan of their own. Source holds numbers of observations.
func (s *sharer) build(core, from, to int) *planBuilder {
	blocks := (s.n + parallel.Block - 1) / parallel.Block
	chosen := make([][]int32, blocks)
	parallel.For(s.threads, blocks, func(i int) {
		first, end := i*parallel.Block, min((i+1)*parallel.Block, s.n)
		entities, rows := make([]int32, end-first), make([]int32, 0, end-first)
		s.lookupRange(core, entities, first, &rows)
		kept := rows[:0]
		for k, e := range entities {
			if int(e) >= from && int(e) < to {
				kept = append(kept, int32(first+k))
			}
		}
		chosen[i] = slices.Clone(kept)
	})
	n := 0
	for _, c := range chosen {
		n += len(c)
	}
	rows := paged.Make[int32](s.pages, n)
	n = 0
	for _, c := range chosen {
		n += copy(rows[n:], c)
	}
	b := &planBuilder{Plan: &Plan{Shapes: s.Shapes, Leaf: s.Leaf, Chain: s.Chain, Owner: s.Owner, pages: s.pages}, threads: s.threads, index: make([][]int32, len(s.Shapes)), part: s.part, partStart: s.partStart}
	for core := range b.index {
		b.index[core] = paged.Make[int32](s.pages, n)
		parallel.Blocks(s.threads, n, func(from, to int) { s.lookup(core, b.index[core][from:to], rows[from:to]) })
	}
	if n > 0 {
		b.sort()
		b.buildNodes()
	}
	for _, column := range b.index {
		paged.Free(s.pages, column)
	}
	for c, i := range b.Source {
		b.Source[c] = rows[i]
	}
	paged.Free(s.pages, rows)
	return b
}

// countNodes returns the number of nodes by unit. Each rank counts those of some units with about equal
// numbers of cells.
func (s *sharer) countNodes(cells []int32) []int32 {
	bounds := make([]int, s.ranks.Size()+1)
	sum, r := 0, 1
	for e, n := range cells {
		for r < len(bounds)-1 && sum >= s.n*r/s.ranks.Size() {
			bounds[r] = e
			r++
		}
		sum += int(n)
	}
	for ; r < len(bounds); r++ {
		bounds[r] = len(cells)
	}
	nodes := make([]int32, len(cells))
	from, to := s.entities(bounds[s.ranks.Rank()], bounds[s.ranks.Rank()+1])
	b := s.build(s.first(), from, to)
	if b.Cells() > 0 {
		for j, e := range b.Entity[b.Owner] {
			if s.part != nil {
				e = s.part[b.LeafEntity[b.Start[j]]]
			}
			nodes[e]++
		}
	}
	b.Free()
	GatherValues(s.ranks, nodes, bounds, 1)
	return nodes
}

// fill sets the part of this process, given the numbers of cells and nodes by unit.
func (s *sharer) fill(cells, nodes []int32) {
	share, size := s.Share, s.ranks.Size()
	share.Shards = Even(len(s.Shards)-1, size)
	share.Nodes, share.Cells, share.Owned = make([]int, size+1), make([]int, size+1), make([]int, size+1)
	r, nodesBefore, cellsBefore, last := 0, 0, 0, -1
	previous := int32(0) // the last entity of the owner of the rank before this one
	for e := range cells {
		for r < size && nodes[e] > 0 && int(s.Shards[share.Shards[r]]) == nodesBefore {
			share.Nodes[r], share.Cells[r] = nodesBefore, cellsBefore
			if r > 0 {
				share.Owned[r] = int(s.begin(e, last))
			}
			if r == s.ranks.Rank() {
				previous = int32(last)
			}
			r++
		}
		nodesBefore, cellsBefore = nodesBefore+int(nodes[e]), cellsBefore+int(cells[e])
		if nodes[e] > 0 {
			last = e
		}
	}
	share.Nodes[size], share.Cells[size], share.Owned[size] = nodesBefore, cellsBefore, s.Shapes[s.first()].N
	b := s.build(s.first(), share.Owned[s.ranks.Rank()], share.Owned[s.ranks.Rank()+1])
	firstNode, endNode := share.of(share.Nodes)
	firstCell, _ := share.of(share.Cells)
	s.Start = paged.Make[int32](s.pages, nodesBefore+1)
	for j, c := range b.Start {
		s.Start[firstNode+j] = int32(firstCell) + c
	}
	s.Changed = part(s.pages, nodesBefore, firstNode, b.Changed)
	for level := range s.Chain {
		s.Entity = append(s.Entity, part(s.pages, nodesBefore, firstNode, b.Entity[level]))
	}
	if firstNode > 0 && s.part == nil {
		s.Entity[s.Owner][firstNode-1] = previous
	}
	s.LeafEntity, s.Source = part(s.pages, s.n, firstCell, b.LeafEntity), part(s.pages, s.n, firstCell, b.Source)
	b.Free()
	for _, j := range s.Shards[share.Shards[s.ranks.Rank()]:share.Shards[s.ranks.Rank()+1]] {
		s.Changed[j] = 0
	}
	levels := len(s.Chain)
	counts := make([]float64, size*levels)
	copy(counts[s.ranks.Rank()*levels:], countComputed(s.Changed[firstNode:endNode], levels))
	GatherValues(s.ranks, counts, Even(size, size), levels)
	share.computed = make([]float64, levels)
	for i, n := range counts {
		share.computed[i%levels] += n
	}
}

// part returns an array of n entries with some of them, from the given one on.
func part[T paged.Number](pages *paged.Store, n, from int, entries []T) []T {
	a := paged.Make[T](pages, n)
	copy(a[from:], entries)
	return a
}

// whole returns the whole plan.
func (s *sharer) whole(shapes []Shape, leaf LeafEnd) *Plan {
	index := make([][]int32, len(shapes))
	for core := range index {
		index[core] = paged.Make[int32](s.pages, s.n)
		parallel.Blocks(s.threads, s.n, func(from, to int) {
			rows := make([]int32, 0, to-from)
			s.lookupRange(core, index[core][from:to], from, &rows)
		})
	}
	p := newPlan(s.pages, s.threads, shapes, index, leaf)
	for _, column := range index {
		paged.Free(s.pages, column)
	}
	return p
}

// shareEffect plans a train of one core, whose cells are divided into runs of blocks.
func (s *sharer) shareEffect() {
	share, size := s.Share, s.ranks.Size()
	blocks := (s.n + parallel.Block - 1) / parallel.Block
	share.Cells, share.Owned = Even(blocks, size), make([]int, size+1)
	for r, block := range share.Cells {
		share.Cells[r] = min(s.n, block*parallel.Block)
	}
	before := make([]int, len(share.leaves)+1) // cells before each entity
	for e, n := range share.leaves {
		before[e+1] = before[e] + int(n)
	}
	entityAt := func(cell int) int { return sort.SearchInts(before, cell+1) - 1 }
	for r, cell := range share.Cells[:size] {
		share.Owned[r] = entityAt(cell)
	}
	share.Owned[0], share.Owned[size] = 0, len(share.leaves)
	from, to := share.of(share.Cells)
	s.LeafEntity, s.Source = paged.Make[int32](s.pages, s.n), paged.Make[int32](s.pages, s.n)
	if from < to {
		first := entityAt(from)
		b := s.build(s.Leaf, first, entityAt(to-1)+1)
		copy(s.LeafEntity[from:to], b.LeafEntity[from-before[first]:])
		copy(s.Source[from:to], b.Source[from-before[first]:])
		b.Free()
	}
	runs := planBuilder{Plan: s.Plan} // of even length
	runs.buildNodes()
	s.cutShards(s.n, s.Nodes(), func(add addNodes) {
		for j := range s.Nodes() {
			add(0, true, 1, int(s.Start[j+1]-s.Start[j]))
		}
	})
	share.Shards, share.Nodes = nil, nil // its shards are not used
}
