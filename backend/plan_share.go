package backend

import (
	"sort"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
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

// A Lookup writes the entities of a core at some observations to dst. Over ranks it is asked for
// those of the run of this process, see RowRuns.
type Lookup func(core int, dst, rows []int32)

// NewSharedPlan is NewPlan of n observations over ranks: each has the shards, or without a chain
// the blocks of cells, that it computes. All ranks must call it. The plan is the whole one, on all
// of them, if it has fewer shards than there are ranks. Cost for N observations and P ranks: three
// lookups of one core, one of all cores and a sort of about N/P of them.
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
	nodes, pairs, held := s.countNodes(cells)
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
		held.Free()
		return s.whole(shapes, leaf)
	}
	s.divideShards(cells, nodes, pairs)
	s.divideNodes(cells, nodes)
	s.fill(held)
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
	previous        int32   // the last entity of the owner of the rank before this one
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

// entities returns the first entities, of the core that comes first, of some units.
func (s *sharer) entities(units []int) []int {
	if s.part == nil {
		return units
	}
	first := make([]int, len(units))
	for i, u := range units {
		first[i] = s.Shapes[s.Leaf].N
		if u < len(s.partStart) {
			first[i] = int(s.partStart[u])
		}
	}
	return first
}

// lookupRange looks up consecutive observations.
func (s *sharer) lookupRange(core int, dst []int32, from int, scratch *[]int32) {
	*scratch = (*scratch)[:0]
	for i := range dst {
		*scratch = append(*scratch, int32(from+i))
	}
	s.lookup(core, dst, *scratch)
}

// build plans the observations of this process, see choose, as a plan of their own. Source holds numbers of
// observations.
func (s *sharer) build(core int, first, end []int) *planBuilder {
	rows, index := s.choose(core, first, end)
	b := &planBuilder{Plan: &Plan{Shapes: s.Shapes, Leaf: s.Leaf, Chain: s.Chain, Owner: s.Owner, pages: s.pages}, threads: s.threads, index: index, part: s.part, partStart: s.partStart}
	if len(rows) > 0 {
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

// held are the nodes of a run of units that a process has planned.
type held struct {
	*planBuilder
	nodes, cells []int // by rank: where those that it holds start
}

// countNodes returns, by unit, the number of nodes, and that of combinations of an entity of the owner and a leaf
// entity. Each rank plans and counts those of some units with about equal numbers of cells.
func (s *sharer) countNodes(cells []int32) (nodes, pairs []int32, h held) {
	size := s.ranks.Size()
	bounds := make([]int, size+1)
	sum, r := 0, 1
	for e, n := range cells {
		for r < len(bounds)-1 && sum >= s.n*r/size {
			bounds[r] = e
			r++
		}
		sum += int(n)
	}
	for ; r < len(bounds); r++ {
		bounds[r] = len(cells)
	}
	nodes, pairs = make([]int32, len(cells)), make([]int32, len(cells))
	b := s.build(s.first(), s.entities(bounds[:size]), s.entities(bounds[1:]))
	last := make([]int32, s.Shapes[s.Leaf].N) // by leaf entity: after the last entity of the owner
	for j := range max(0, len(b.Start)-1) {
		owner := b.Entity[b.Owner][j]
		unit := owner
		if s.part != nil {
			unit = s.part[b.LeafEntity[b.Start[j]]]
		}
		nodes[unit]++
		for _, e := range b.LeafEntity[b.Start[j]:b.Start[j+1]] {
			if last[e] != owner+1 {
				last[e] = owner + 1
				pairs[unit]++
			}
		}
	}
	GatherValues(s.ranks, nodes, bounds, 1)
	GatherValues(s.ranks, pairs, bounds, 1)
	h = held{b, make([]int, size+1), make([]int, size+1)}
	for r := range size {
		h.nodes[r+1], h.cells[r+1] = h.nodes[r], h.cells[r]
		for u := bounds[r]; u < bounds[r+1]; u++ {
			h.nodes[r+1], h.cells[r+1] = h.nodes[r+1]+int(nodes[u]), h.cells[r+1]+int(cells[u])
		}
	}
	return nodes, pairs, h
}

// divideShards sets which shards each rank has, so that they take about the same time. It was
// measured for passes with second moments at rank R, which cost R per cell, R^2/3 per pair, and
// R^3/3 per leaf entity, which is solved and takes space in the cache.
func (s *sharer) divideShards(cells, nodes, pairs []int32) {
	rank := float64(s.LeafRank())
	leaves := make([]int32, len(cells))
	for _, u := range s.part {
		leaves[u]++
	}
	shards, size := len(s.Shards)-1, s.ranks.Size()
	before := make([]float64, shards+1) // work before each shard
	shard, node := 0, 0
	for u, n := range nodes {
		for shard+1 < shards && int(s.Shards[shard+1]) <= node {
			shard++
		}
		before[shard+1] += rank * (float64(cells[u]) + rank*(float64(n)+float64(pairs[u])/3+rank*float64(leaves[u])/3))
		node += int(n)
	}
	for k := range shards {
		before[k+1] += before[k]
	}
	s.Share.Shards = evenRuns(before, size)
}

// evenRuns cuts things, of which there are at least size, into that many runs, none of them empty, so that the work of
// the largest run is as small as possible. before is the work before each thing, and that of all.
func evenRuns(before []float64, size int) []int {
	n := len(before) - 1
	// within returns runs from the left that have as much work as a limit allows, and whether the last one does, too.
	within := func(limit float64) (bounds []int, ok bool) {
		bounds, ok = make([]int, size+1), true
		for r := range size {
			end := before[bounds[r]] + limit
			at := sort.Search(n, func(i int) bool { return before[i+1] > end })
			bounds[r+1] = min(max(at, bounds[r]+1), n-(size-1-r))
			if r == size-1 {
				bounds[size] = n
			}
			ok = ok && before[bounds[r+1]] <= end
		}
		return bounds, ok
	}
	low, high := 0.0, before[n]
	bounds, _ := within(high)
	for range 50 {
		limit := (low + high) / 2
		if some, ok := within(limit); ok {
			bounds, high = some, limit
		} else {
			low = limit
		}
	}
	return bounds
}

// divideNodes sets the nodes, cells and entities of each rank, given the numbers of cells and nodes by unit.
func (s *sharer) divideNodes(cells, nodes []int32) {
	share, size := s.Share, s.ranks.Size()
	share.Nodes, share.Cells, share.Owned = make([]int, size+1), make([]int, size+1), make([]int, size+1)
	r, nodesBefore, cellsBefore, last := 0, 0, 0, -1
	for u := range cells {
		for r < size && nodes[u] > 0 && int(s.Shards[share.Shards[r]]) == nodesBefore {
			share.Nodes[r], share.Cells[r] = nodesBefore, cellsBefore
			if r > 0 {
				share.Owned[r] = int(s.begin(u, last))
			}
			if r == s.ranks.Rank() {
				s.previous = int32(last)
			}
			r++
		}
		nodesBefore, cellsBefore = nodesBefore+int(nodes[u]), cellsBefore+int(cells[u])
		if nodes[u] > 0 {
			last = u
		}
	}
	share.Nodes[size], share.Cells[size], share.Owned[size] = nodesBefore, cellsBefore, s.Shapes[s.first()].N
}

// fill sets the part of this process: the ranks send each other the nodes that they hold.
func (s *sharer) fill(h held) {
	share, size, me := s.Share, s.ranks.Size(), s.ranks.Rank()
	firstNode, endNode := share.of(share.Nodes)
	start := make([]int32, max(0, len(h.Start)-1))
	for j := range start {
		start[j] = int32(h.cells[me]) + h.Start[j]
	}
	total := share.Nodes[size]
	s.Start = moved(s, total+1, start, h.nodes, share.Nodes)
	s.Start[endNode] = int32(share.Cells[me+1])
	s.Changed = moved(s, total, h.Changed, h.nodes, share.Nodes)
	for level := range s.Chain {
		var entity []int32
		if len(h.Entity) > 0 {
			entity = h.Entity[level]
		}
		s.Entity = append(s.Entity, moved(s, total, entity, h.nodes, share.Nodes))
	}
	s.LeafEntity, s.Source = moved(s, s.n, h.LeafEntity, h.cells, share.Cells), moved(s, s.n, h.Source, h.cells, share.Cells)
	for _, j := range h.nodes { // the first of those that another rank held
		if j > firstNode && j < endNode {
			level := 0
			for level < len(s.Chain) && s.Entity[level][j] == s.Entity[level][j-1] {
				level++
			}
			s.Changed[j] = uint8(level)
		}
	}
	h.Free()
	if firstNode > 0 && s.part == nil {
		s.Entity[s.Owner][firstNode-1] = s.previous
	}
	for _, j := range s.Shards[share.Shards[me]:share.Shards[me+1]] {
		s.Changed[j] = 0
	}
	levels := len(s.Chain)
	counts := make([]float64, size*levels)
	copy(counts[me*levels:], countComputed(s.Changed[firstNode:endNode], levels))
	GatherValues(s.ranks, counts, Even(size, size), levels)
	share.computed = make([]float64, levels)
	for i, n := range counts {
		share.computed[i%levels] += n
	}
}

// moved returns an array of n entries, of which each rank has a run, given by final, after they
// were sent by the ranks that hold them.
func moved[T paged.Number](s *sharer, n int, values []T, held, final []int) []T {
	all, me := paged.Make[T](s.pages, n), s.ranks.Rank()
	peers.Move(s.ranks, all[final[me]:final[me+1]], values, held, final)
	return all
}

// whole returns the whole plan.
func (s *sharer) whole(shapes []Shape, leaf LeafEnd) *Plan {
	index := make([][]int32, len(shapes))
	for core := range index {
		index[core] = paged.Make[int32](s.pages, s.n)
		own, first := s.ownRows(core)
		copy(index[core][first:], own)
		GatherValues(s.ranks, index[core], RowRuns(s.n, s.ranks.Size()), 1)
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
	first, end := make([]int, size), make([]int, size) // entities with cells of each rank
	for r := range size {
		if cell := share.Cells[r+1]; cell > share.Cells[r] {
			first[r], end[r] = entityAt(share.Cells[r]), entityAt(cell-1)+1
		}
	}
	if b := s.build(s.Leaf, first, end); from < to {
		skipped := from - before[first[s.ranks.Rank()]]
		copy(s.LeafEntity[from:to], b.LeafEntity[skipped:])
		copy(s.Source[from:to], b.Source[skipped:])
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
