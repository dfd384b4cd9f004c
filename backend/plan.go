package backend

import (
	"fmt"
	"math"
)

// End names an end of a train.
type End int

const (
	First End = iota
	Last
)

// A Plan is a tree over observed cells of one train. Its leaves are the cells,
// each reduced to its entity of one outer core, the leaf core. Its nodes are
// the distinct combinations of the other cores' entities; the product of their
// slices, a vector of the leaf core's rank, is computed once a node.
//
// That product is taken along the chain of cores from the far end of the
// train (level 0) to the leaf core's neighbour. Nodes are sorted by the
// largest core of the chain, the owner, so that its slices are used from
// cache, then by level; Changed tells from which level on a node differs from
// the one before.
//
// Work is cut into shards at changes of the owner's entity. A shard is the
// unit of parallel work and of summation, and depends on the data alone: so
// results do not depend on the number of threads.
//
// Memory: 8 bytes a cell and 4 (P-1) + 5 a node; Rows adds 8 a cell.
type Plan struct {
	Shapes []Shape
	Leaf   int   // the leaf core's position in the train: 0 or P-1
	Chain  []int // positions of the other cores, level by level
	Owner  int   // level of the core that shards do not share; -1 without chain

	Start   []int32   // Start[j]..Start[j+1] are node j's cells
	Entity  [][]int32 // Entity[level][j]
	Changed []uint8   // first level at which node j differs from node j-1

	LeafEntity []int32 // by cell
	Source     []int32 // by cell: the observation's position in the input

	Shards []int32 // shard s is nodes Shards[s]..Shards[s+1]

	rows *LeafOrder
}

// LeafOrder lists the cells of a plan by their entity of the leaf core.
type LeafOrder struct {
	Start []int32 // Start[e]..Start[e+1] are entity e's cells
	Node  []int32 // the node of each
	Place []int32 // by cell in plan order: its place in this one
}

// Limits of the shards. Each shard keeps gradients of its own for every core
// but the owner's, which bounds their number for large cores; few cells make
// few shards.
const (
	maxShards        = 16
	minCellsShard    = 4096
	maxShardGradient = 256 << 20
)

// Cells returns the number of cells.
func (p *Plan) Cells() int { return len(p.LeafEntity) }

// Nodes returns the number of nodes.
func (p *Plan) Nodes() int { return len(p.Start) - 1 }

// LeafRank returns the length of a node's vector.
func (p *Plan) LeafRank() int { return p.Shapes[p.Leaf].Slice() }

// NewPlan orders observations for a train: index[p][c] is the entity of core p
// at observation c. The leaf core is the train's first or last. Cost: a
// counting sort a core.
func NewPlan(shapes []Shape, index [][]int32, leaf End) *Plan {
	CheckChain(shapes)
	if len(index) != len(shapes) {
		panic(fmt.Sprintf("backend: %d index columns for %d cores", len(index), len(shapes)))
	}
	cells := len(index[0])
	if cells > math.MaxInt32 {
		panic("backend: more than 2^31 cells in one plan")
	}
	p := &Plan{Shapes: shapes, Owner: -1}
	last := len(shapes) - 1
	if leaf == Last {
		p.Leaf = last
		for i := range last {
			p.Chain = append(p.Chain, i)
		}
	} else {
		for i := last; i > 0; i-- {
			p.Chain = append(p.Chain, i)
		}
	}
	for level, c := range p.Chain {
		if p.Owner < 0 || shapes[c].Len() > shapes[p.Chain[p.Owner]].Len() {
			p.Owner = level
		}
	}
	p.sort(index)
	p.buildNodes(index)
	p.cutShards()
	return p
}

// sort fills Source and LeafEntity: by owner, then level by level, then leaf.
func (p *Plan) sort(index [][]int32) {
	cells := len(index[p.Leaf])
	order := make([]int32, cells)
	for i := range order {
		order[i] = int32(i)
	}
	spare := make([]int32, cells)
	by := func(core int) {
		if sortedBy(index[core], order) {
			return
		}
		countingSort(spare, order, index[core], p.Shapes[core].N)
		order, spare = spare, order
	}
	by(p.Leaf)
	for level := len(p.Chain) - 1; level >= 0; level-- {
		if level != p.Owner {
			by(p.Chain[level])
		}
	}
	if p.Owner >= 0 {
		by(p.Chain[p.Owner])
	}
	p.Source = order
	for c, i := range order {
		spare[c] = index[p.Leaf][i]
	}
	p.LeafEntity = spare
}

func sortedBy(key, order []int32) bool {
	for i := 1; i < len(order); i++ {
		if key[order[i]] < key[order[i-1]] {
			return false
		}
	}
	return true
}

// countingSort writes src to dst in stable order of key, whose values lie in
// [0, n).
func countingSort(dst, src, key []int32, n int) {
	next := make([]int32, n+1)
	for _, i := range src {
		next[key[i]+1]++
	}
	for k := range n {
		next[k+1] += next[k]
	}
	for _, i := range src {
		dst[next[key[i]]] = i
		next[key[i]]++
	}
}

// buildNodes finds the runs of cells that share all entities of the chain. A
// train of one core has no chain; its cells are cut into even runs.
func (p *Plan) buildNodes(index [][]int32) {
	cells := p.Cells()
	p.Entity = make([][]int32, len(p.Chain))
	if len(p.Chain) == 0 {
		runs := min(maxShards, cells/minCellsShard+1)
		for r := range runs + 1 {
			p.Start = append(p.Start, int32(cells*r/runs))
		}
		p.Changed = make([]uint8, runs)
		return
	}
	changed := func(c int) int {
		for level, core := range p.Chain {
			if c == 0 || index[core][p.Source[c]] != index[core][p.Source[c-1]] {
				return level
			}
		}
		return -1
	}
	nodes := 0
	for c := range cells {
		if changed(c) >= 0 {
			nodes++
		}
	}
	p.Start = make([]int32, 0, nodes+1)
	p.Changed = make([]uint8, 0, nodes)
	for level := range p.Entity {
		p.Entity[level] = make([]int32, 0, nodes)
	}
	for c := range cells {
		from := changed(c)
		if from < 0 {
			continue
		}
		p.Start = append(p.Start, int32(c))
		p.Changed = append(p.Changed, uint8(from))
		for level, core := range p.Chain {
			p.Entity[level] = append(p.Entity[level], index[core][p.Source[c]])
		}
	}
	p.Start = append(p.Start, int32(cells))
}

// cutShards cuts the nodes into runs of about equal work.
func (p *Plan) cutShards() {
	nodes, r := p.Nodes(), p.LeafRank()
	private := 4 * p.Shapes[p.Leaf].Len()
	nodeWork := r
	for level, core := range p.Chain {
		if level != p.Owner {
			private += 4 * p.Shapes[core].Len()
		}
		nodeWork += p.Shapes[core].Slice()
	}
	shards := min(maxShards, p.Cells()/minCellsShard+1, max(2, maxShardGradient/private))
	total := float64(nodes)*float64(nodeWork) + float64(p.Cells())*float64(r)
	p.Shards = []int32{0}
	work := 0.0
	for j := range nodes {
		border := j > 0 && (p.Owner < 0 || p.Entity[p.Owner][j] != p.Entity[p.Owner][j-1])
		if border && work >= total*float64(len(p.Shards))/float64(shards) {
			p.Shards = append(p.Shards, int32(j))
		}
		work += float64(nodeWork) + float64(r)*float64(p.Start[j+1]-p.Start[j])
	}
	p.Shards = append(p.Shards, int32(nodes))
	if nodes > 0 {
		// A shard computes its first node's chain from the start.
		for _, j := range p.Shards[:len(p.Shards)-1] {
			p.Changed[j] = 0
		}
	}
}

// Work returns the multiply-adds of one full pass (mean and all gradients),
// the measure by which to choose a plan's leaf.
func (p *Plan) Work() float64 {
	work := 3 * float64(p.Cells()) * float64(p.LeafRank())
	for j := range p.Nodes() {
		for level := int(p.Changed[j]); level < len(p.Chain); level++ {
			work += 3 * float64(p.Shapes[p.Chain[level]].Slice())
		}
	}
	return work
}

// SecondWork is the same for a pass with second moments: a node's covariance
// costs a product of matrices, a cell a product with it.
func (p *Plan) SecondWork() float64 {
	r := float64(p.LeafRank())
	work := 3 * float64(p.Cells()) * r * r
	for j := range p.Nodes() {
		for level := max(1, int(p.Changed[j])); level < len(p.Chain); level++ {
			s := p.Shapes[p.Chain[level]]
			work += 3 * float64(s.Slice()*(s.Left+s.Right))
		}
	}
	return work
}

// Gather writes src, in order of the observations, to dst in plan order.
func (p *Plan) Gather(dst, src []float32) {
	for c, i := range p.Source {
		dst[c] = src[i]
	}
}

// Scatter writes src, in plan order, to dst in order of the observations.
func (p *Plan) Scatter(dst, src []float32) {
	for c, i := range p.Source {
		dst[i] = src[c]
	}
}

// ByLeaf returns the cells by entity of the leaf core, made on the first call.
// Not safe for concurrent first calls.
func (p *Plan) ByLeaf() *LeafOrder {
	if p.rows != nil {
		return p.rows
	}
	n := p.Shapes[p.Leaf].N
	o := &LeafOrder{Start: make([]int32, n+1), Node: make([]int32, p.Cells()), Place: make([]int32, p.Cells())}
	for _, e := range p.LeafEntity {
		o.Start[e+1]++
	}
	for e := range n {
		o.Start[e+1] += o.Start[e]
	}
	next := append([]int32(nil), o.Start[:n]...)
	for j := range p.Nodes() {
		for c := p.Start[j]; c < p.Start[j+1]; c++ {
			at := &next[p.LeafEntity[c]]
			o.Place[c], o.Node[*at] = *at, int32(j)
			*at++
		}
	}
	p.rows = o
	return o
}
