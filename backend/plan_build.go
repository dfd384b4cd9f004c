package backend

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// planBuilder sorts the cells of a plan and finds its nodes. Cells are first divided into
// segments by ranges of entities of the core that comes first in the order of the plan.
// The segments are independent of each other, and smaller than all cells: their sorts
// stay in cache.
type planBuilder struct {
	*Plan
	index     [][]int32 // the entities of the observations, by core
	threads   int
	segments  []int   // cells segments[i]..segments[i+1] form segment i
	part      []int32 // by leaf entity: its part, see divideLeaf; nil for one part
	partStart []int32 // by part: its first leaf entity
}

// Of a train of three cores whose middle one is the owner, passes share work between the
// cells of a middle and a leaf entity. Middle entities with many cells would have them too far
// apart, and their leaf entities would not stay in cache. From wholeCells per middle entity
// on, the leaf entities are therefore divided into parts with about partCells cells per middle
// entity, and the plan is sorted by parts first. They are the least that ranks and threads
// divide, so their number is a multiple of evenParts.
const (
	partCells  = 1 << 12
	wholeCells = 1 << 16
	evenParts  = 16
)

// HasParts reports whether the plan of a train with a leaf core at the given position has
// parts: its shards then share all cores but the leaf core, and otherwise all but the owner.
func HasParts(shapes []Shape, leaf, cells int) bool {
	return len(shapes) == 3 && shapes[1].Len() > shapes[2-leaf].Len() && cells >= wholeCells*shapes[1].N
}

// divideLeaf sets the part of each leaf entity, if the plan has parts.
func (b *planBuilder) divideLeaf() {
	cells := len(b.index[b.Leaf])
	if !HasParts(b.Shapes, b.Leaf, cells) {
		return
	}
	count := make([]int32, b.Shapes[b.Leaf].N)
	for _, e := range b.index[b.Leaf] {
		count[e]++
	}
	b.part, b.partStart = b.leafParts(count, cells)
}

// leafParts returns the part of each leaf entity, given their numbers of cells, and where the parts start. Parts are
// ranges of entities with about equal numbers of cells.
func (p *Plan) leafParts(count []int32, cells int) (part, start []int32) {
	parts := cells / (partCells * p.Shapes[p.Chain[1]].N)
	parts = (parts + evenParts/2) / evenParts * evenParts
	part = make([]int32, len(count))
	sum := 0
	for e, n := range count {
		own := sum * parts / cells
		for len(start) <= own {
			start = append(start, int32(e))
		}
		part[e] = int32(own)
		sum += int(n)
	}
	p.Alone = p.Leaf
	return part, start
}

// A counting sort takes time and memory in proportion to the entities of a core. Fewer
// cells than the entities divided by countingSortShare are sorted by comparison, with
// the same result.
const countingSortShare = 64

// segmentCells is the least number of cells of a segment.
const segmentCells = 1 << 13

// first returns the core that comes first in the order of the plan.
func (b *planBuilder) first() int {
	if b.Owner < 0 || b.part != nil {
		return b.Leaf
	}
	return b.Chain[b.Owner]
}

// sort fills Source and LeafEntity. Cells are ordered by part of the leaf entities, then by
// owner, then by level, then by leaf entity.
func (b *planBuilder) sort() {
	cells := len(b.index[b.Leaf])
	order, spare := paged.Make[int32](b.pages, cells), paged.Make[int32](b.pages, cells)
	b.divide(order, spare)
	parallel.For(b.threads, len(b.segments)-1, func(i int) {
		from, to := b.segments[i], b.segments[i+1]
		b.sortSegment(order[from:to], spare[from:to])
	})
	b.Source, b.LeafEntity = order, spare
	parallel.Blocks(b.threads, cells, func(from, to int) {
		for c, i := range order[from:to] {
			spare[from+c] = b.index[b.Leaf][i]
		}
	})
}

// divide writes the numbers of the observations to order, segment after segment, each in
// increasing order.
func (b *planBuilder) divide(order, scratch []int32) {
	lead, cells := b.index[b.first()], len(order)
	b.segments = []int{0, cells}
	wanted := min(4*b.threads, cells/segmentCells)
	if b.threads <= 1 || wanted < 2 {
		for i := range order {
			order[i] = int32(i)
		}
		return
	}
	// The segment of each entity, by the number of cells before it.
	count := parallel.Count(b.threads, lead, b.Shapes[b.first()].N)
	segmentOf, sum, at := count, 0, 0
	for e, n := range count {
		whole := b.part == nil || e > 0 && b.part[e] != b.part[e-1] // a part is not divided
		if whole && at+1 < wanted && sum >= cells*(at+1)/wanted {
			at++
		}
		segmentOf[e] = int32(at)
		sum += int(n)
	}
	segments := at + 1
	// Stable: every block writes its cells of a segment after those of the blocks before it.
	blocks := (cells + parallel.Block - 1) / parallel.Block
	place := make([]int, blocks*segments) // by segment and block
	parallel.Blocks(b.threads, cells, func(from, to int) {
		own := make([]int, segments) // not in cache lines that others write
		for _, e := range lead[from:to] {
			own[segmentOf[e]]++
		}
		for i, n := range own {
			place[i*blocks+from/parallel.Block] = n
		}
	})
	b.segments = b.segments[:0]
	sum = 0
	for i, n := range place {
		if i%blocks == 0 {
			b.segments = append(b.segments, sum)
		}
		place[i] = sum
		sum += n
	}
	b.segments = append(b.segments, cells)
	parallel.Blocks(b.threads, cells, func(from, to int) {
		next := make([]int, segments)
		for i := range next {
			next[i] = place[i*blocks+from/parallel.Block]
		}
		for i, e := range lead[from:to] {
			at := &next[segmentOf[e]]
			order[*at] = int32(from + i)
			*at++
		}
	})
}

// sortSegment sorts the cells of a segment.
func (b *planBuilder) sortSegment(order, spare []int32) {
	sorted := order
	by := func(core int, class []int32) {
		key := keys{b.index[core], class}
		if key.sorted(order) {
			return
		}
		if n := b.Shapes[core].N; len(order) < n/countingSortShare {
			slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(key.at(i), key.at(j)) })
		} else {
			key.countingSort(spare, order)
			order, spare = spare, order
		}
	}
	by(b.Leaf, nil)
	for level := len(b.Chain) - 1; level >= 0; level-- {
		if level != b.Owner {
			by(b.Chain[level], nil)
		}
	}
	if b.Owner >= 0 {
		by(b.Chain[b.Owner], nil)
	}
	if b.part != nil {
		by(b.Leaf, b.part)
	}
	copy(sorted, order) // unless it is the same memory
}

// keys are the keys of a sort by observation: its entity, or the class of its entity.
type keys struct{ entity, class []int32 }

func (k keys) at(i int32) int32 {
	if k.class == nil {
		return k.entity[i]
	}
	return k.class[k.entity[i]]
}

func (k keys) sorted(order []int32) bool {
	for i := 1; i < len(order); i++ {
		if k.at(order[i]) < k.at(order[i-1]) {
			return false
		}
	}
	return true
}

// countingSort writes src to dst in stable order of the keys.
func (k keys) countingSort(dst, src []int32) {
	low, high := k.at(src[0]), k.at(src[0])
	for _, i := range src {
		low, high = min(low, k.at(i)), max(high, k.at(i))
	}
	next := make([]int32, high-low+2)
	for _, i := range src {
		next[k.at(i)-low+1]++
	}
	for k := range next[1:] {
		next[k+1] += next[k]
	}
	for _, i := range src {
		at := &next[k.at(i)-low]
		dst[*at] = i
		*at++
	}
}

// buildNodes finds the runs of cells that share all entities of the chain. A
// train of one core has no chain; its cells are divided into runs of even
// length.
func (b *planBuilder) buildNodes() {
	cells := b.Cells()
	b.Entity = make([][]int32, len(b.Chain))
	if len(b.Chain) == 0 {
		runs := min(maxShards, cells/minCellsShard+1)
		b.Start = make([]int32, 0, runs+1)
		for r := range runs + 1 {
			b.Start = append(b.Start, int32(cells*r/runs))
		}
		b.Changed = make([]uint8, runs)
		return
	}
	segments := len(b.segments) - 1
	first := make([]int, segments+1) // the first node of each segment
	parallel.For(b.threads, segments, func(i int) {
		for c := b.segments[i]; c < b.segments[i+1]; c++ {
			if b.changed(c) >= 0 {
				first[i+1]++
			}
		}
	})
	for i := range segments {
		first[i+1] += first[i]
	}
	nodes := first[segments]
	b.Start = paged.Make[int32](b.pages, nodes+1)
	b.Changed = paged.Make[uint8](b.pages, nodes)
	for level := range b.Entity {
		b.Entity[level] = paged.Make[int32](b.pages, nodes)
	}
	parallel.For(b.threads, segments, func(i int) {
		node := first[i]
		for c := b.segments[i]; c < b.segments[i+1]; c++ {
			from := b.changed(c)
			if from < 0 {
				continue
			}
			b.Start[node], b.Changed[node] = int32(c), uint8(from)
			for level, core := range b.Chain {
				b.Entity[level][node] = b.index[core][b.Source[c]]
			}
			node++
		}
	})
	b.Start[nodes] = int32(cells)
}

// changed returns the first level at which cell c differs from the cell before it: the number
// of levels if only the part of its leaf entity differs, -1 if nothing does.
func (b *planBuilder) changed(c int) int {
	for level, core := range b.Chain {
		if c == 0 || b.index[core][b.Source[c]] != b.index[core][b.Source[c-1]] {
			return level
		}
	}
	if b.part != nil && b.part[b.LeafEntity[c]] != b.part[b.LeafEntity[c-1]] {
		return len(b.Chain)
	}
	return -1
}

// border reports whether a shard may begin at node j, and the first entity of the core Alone
// that it would have.
func (b *planBuilder) border(j int) (entity int32, ok bool) {
	switch {
	case j == 0:
		return 0, false
	case b.part != nil:
		before, after := b.part[b.LeafEntity[b.Start[j]-1]], b.part[b.LeafEntity[b.Start[j]]]
		return b.partStart[after], before != after
	case b.Owner < 0:
		return 0, true
	}
	before := b.Entity[b.Owner][j-1]
	return before + 1, b.Entity[b.Owner][j] != before
}
