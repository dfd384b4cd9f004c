package backend

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// LeafEnd selects the end of the train whose core becomes the leaf core of a
// plan.
type LeafEnd int

const (
	LeafFirst LeafEnd = iota
	LeafLast
)

// A Plan is a tree over the observed cells of one train. Its leaves are the
// cells, each represented by its entity of one outer core, the leaf core. Its
// nodes are the distinct combinations of the entities of the other cores, in large plans
// once for each of several parts of the leaf entities (see partCells). The
// product of their slices, a vector of the leaf core's rank, is computed once
// per node.
//
// That product is computed along the chain of cores from the far end of the
// train (level 0) to the neighbour of the leaf core. Nodes are sorted by the
// largest core of the chain, the owner, so that its slices are used from cache,
// and then by level. Changed gives the first level at which a node differs from
// the previous one.
//
// Work is divided into shards at changes of the owner's entity, or at those of the part of the
// leaf entities. A shard is the unit of parallel work and of summation. Shards depend on the
// data alone, so results do not depend on the number of threads.
//
// Memory: 8 bytes per cell and 4 (P-1) + 5 bytes per node; NormalEquations
// adds 8 bytes per cell.
type Plan struct {
	Shapes []Shape
	Leaf   int   // the leaf core's position in the train: 0 or P-1
	Chain  []int // positions of the other cores, by level
	Owner  int   // level of the largest core of the chain; -1 if there is no chain
	Alone  int   // position of the core that shards do not share: the owner, or with parts the leaf core; -1 if there is no chain

	Start   []int32   // cells Start[j]..Start[j+1] belong to node j
	Entity  [][]int32 // Entity[level][j] is the entity of node j
	Changed []uint8   // first level at which node j differs from node j-1

	LeafEntity []int32 // by cell
	Source     []int32 // by cell: the position of the observation in the input

	Shards []int32 // nodes Shards[s]..Shards[s+1] form shard s
	Begin  []int32 // entities Begin[s]..Begin[s+1] of the core Alone belong to shard s
	ByWork []int32 // the shards, those of most work first, so that no long one is left for the end of a pass

	Share *Share // what of the plan this process has; nil for all of it

	leafOrder *LeafOrder
	pages     *paged.Store // of its arrays; nil if they are in memory
}

// LeafOrder lists the cells of a plan by entity of the leaf core.
type LeafOrder struct {
	Start    []int32 // positions Start[e]..Start[e+1] belong to entity e
	Node     []int32 // by position: the node of the cell
	Position []int32 // by cell in plan order: its position in this order; nil for a shared plan

	shared *sharedOrder
}

// Limits on shards. Each shard keeps its own gradients for every core except
// the owner, which bounds the number of shards for large cores. A small number
// of cells makes few shards.
const (
	maxShards        = 128
	fewShards        = 16 // for cores so large that more would cost more than their cells
	minCellsShard    = 4096
	maxShardGradient = 256 << 20
)

// Cells returns the number of cells.
func (p *Plan) Cells() int { return len(p.LeafEntity) }

// Nodes returns the number of nodes.
func (p *Plan) Nodes() int { return len(p.Start) - 1 }

// LeafRank returns the length of the vector of a node.
func (p *Plan) LeafRank() int { return p.Shapes[p.Leaf].Slice() }

// NewPlan builds a plan from observations: index[p][c] is the entity of core p
// at observation c. The leaf core is the first or the last core of the train.
// Cost: one stable sort per core.
func NewPlan(shapes []Shape, index [][]int32, leaf LeafEnd) *Plan {
	return newPlan(nil, 1, shapes, index, leaf)
}

// NewPlanOn is NewPlan on several threads, with arrays in the memory of a backend.
func NewPlanOn(b Backend, threads int, shapes []Shape, index [][]int32, leaf LeafEnd) *Plan {
	return newPlan(Pages(b), threads, shapes, index, leaf)
}

func newPlan(pages *paged.Store, threads int, shapes []Shape, index [][]int32, leaf LeafEnd) *Plan {
	CheckTrain(shapes)
	if len(index) != len(shapes) {
		panic(fmt.Sprintf("backend: got %d index columns, want %d, one per core", len(index), len(shapes)))
	}
	cells := len(index[0])
	if cells > math.MaxInt32 {
		panic("backend: more than 2^31 cells in one plan")
	}
	p := orient(pages, shapes, leaf)
	b := planBuilder{Plan: p, index: index, threads: threads}
	b.divideLeaf()
	b.sort()
	b.buildNodes()
	p.cutShards(p.Cells(), p.Nodes(), func(add addNodes) {
		for j := range p.Nodes() {
			entity, border := b.border(j)
			add(entity, border, 1, int(p.Start[j+1]-p.Start[j]))
		}
	})
	if p.Nodes() > 0 {
		// The first node of a shard computes its whole chain.
		for _, j := range p.Shards[:len(p.Shards)-1] {
			p.Changed[j] = 0
		}
	}
	return p
}

// orient returns a plan without cells.
func orient(pages *paged.Store, shapes []Shape, leaf LeafEnd) *Plan {
	p := &Plan{Shapes: shapes, Owner: -1, Alone: -1, pages: pages}
	last := len(shapes) - 1
	p.Chain = make([]int, 0, last)
	if leaf == LeafLast {
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
	if p.Owner >= 0 {
		p.Alone = p.Chain[p.Owner]
	}
	return p
}

// Free gives the memory of the plan back, if it is in a store. The plan must not be used
// afterwards. A nil plan has no memory.
func (p *Plan) Free() {
	if p == nil || p.pages == nil {
		return
	}
	for _, a := range append(p.Entity, p.Start, p.LeafEntity, p.Source) {
		paged.Free(p.pages, a)
	}
	paged.Free(p.pages, p.Changed)
	if o := p.leafOrder; o != nil {
		paged.Free(p.pages, o.Node)
		paged.Free(p.pages, o.Position)
		if o.shared != nil {
			paged.Free(p.pages, o.shared.source)
		}
	}
	*p = Plan{}
}

// Shards returns the largest number of shards of a plan, whose shards each have gradients of
// their own of the given number of bytes. Many are a multiple of 16, so that 16 threads have equally many.
func Shards(cells, private int) int {
	shards := min(maxShards, cells/minCellsShard+1, max(2, maxShardGradient/private), max(fewShards, 8*cells/private))
	if shards > 16 {
		shards -= shards % 16
	}
	return shards
}

// addNodes adds a run of nodes to the shards of a plan. With a border a shard may begin there; entity
// is the first one of the core Alone that it would have.
type addNodes func(entity int32, border bool, nodes, cells int)

// cutShards divides the nodes into runs of about equal work.
func (p *Plan) cutShards(cells, nodes int, each func(add addNodes)) {
	r := p.LeafRank()
	private, nodeWork := 0, r
	for core, shape := range p.Shapes {
		if core != p.Alone {
			private += 4 * shape.Len()
		}
		if core != p.Leaf {
			nodeWork += shape.Slice()
		}
	}
	shards := Shards(cells, private)
	total := float64(nodes)*float64(nodeWork) + float64(cells)*float64(r)
	p.Shards, p.Begin = make([]int32, 1, shards+1), make([]int32, 1, shards+1)
	work, at := 0.0, 0
	begin := []float64{0} // the work before each shard
	each(func(entity int32, border bool, nodes, cells int) {
		if border && at > 0 && work >= total*float64(len(p.Shards))/float64(shards) {
			p.Shards, p.Begin, begin = append(p.Shards, int32(at)), append(p.Begin, entity), append(begin, work)
		}
		work += float64(nodes)*float64(nodeWork) + float64(r)*float64(cells)
		at += nodes
	})
	p.Shards, begin = append(p.Shards, int32(nodes)), append(begin, work)
	if p.Alone >= 0 {
		p.Begin = append(p.Begin, int32(p.Shapes[p.Alone].N))
	}
	p.ByWork = make([]int32, len(p.Shards)-1)
	for s := range p.ByWork {
		p.ByWork[s] = int32(s)
	}
	slices.SortStableFunc(p.ByWork, func(a, b int32) int { return cmp.Compare(begin[b+1]-begin[b], begin[a+1]-begin[a]) })
}

// Work returns the number of multiply-adds of one full pass (mean and all
// gradients). It is the measure by which to choose the leaf core.
func (p *Plan) Work() float64 { return p.work(p.Cells(), p.computed()) }

func (p *Plan) work(cells int, computed []float64) float64 {
	work := 3 * float64(cells) * float64(p.LeafRank())
	for level, nodes := range computed {
		work += nodes * 3 * float64(p.Shapes[p.Chain[level]].Slice())
	}
	return work
}

// SecondMomentWork is Work for a pass with second moments: the covariance of a
// node costs a product of matrices, a cell a matrix-vector product.
func (p *Plan) SecondMomentWork() float64 { return p.secondMomentWork(p.Cells(), p.computed()) }

func (p *Plan) secondMomentWork(cells int, computed []float64) float64 {
	r := float64(p.LeafRank())
	work := 3 * float64(cells) * r * r
	for level, nodes := range computed {
		if s := p.Shapes[p.Chain[level]]; level > 0 {
			work += nodes * 3 * float64(s.Slice()*(s.Left+s.Right))
		}
	}
	return work
}

// computed returns, by level, the number of nodes for which a pass computes that level.
func (p *Plan) computed() []float64 {
	if p.Share != nil {
		return p.Share.computed
	}
	return countComputed(p.Changed, len(p.Chain))
}

func countComputed(changed []uint8, levels int) []float64 {
	n := make([]float64, levels+1)
	for _, level := range changed {
		n[level]++
	}
	for level := 1; level < levels; level++ {
		n[level] += n[level-1]
	}
	return n[:levels]
}

// maxFarCovariances is the most memory, in bytes, for the covariances of the far core that the
// shards sum.
const maxFarCovariances = 256 << 20

// HasCovariances reports whether a pass over the plan can compute the derivative with
// respect to the covariances of a core: the leaf core, and in a train of three cores
// with variances the core at the other end, if the core between them is the owner.
func (p *Plan) HasCovariances(core int, cores []Slices) bool {
	if core == p.Leaf {
		return true
	}
	if len(p.Chain) != 2 || p.Owner != 1 || core != p.Chain[0] || cores[core].Cov != nil || cores[p.Leaf].Cov != nil {
		return false
	}
	s := p.Shapes[core]
	return 4*len(p.Shards)*s.Len()*s.Slice() <= maxFarCovariances
}

// Gather copies src, in the order of the observations, to dst in plan order.
func (p *Plan) Gather(dst, src []float32) {
	for c, i := range p.Source {
		dst[c] = src[i]
	}
}

// Scatter copies src, in plan order, to dst in the order of the observations.
func (p *Plan) Scatter(dst, src []float32) {
	for c, i := range p.Source {
		dst[i] = src[c]
	}
}

// ByLeaf returns the cells by entity of the leaf core. The order is computed by
// the first call, on the given number of threads, which must not run concurrently with another; all ranks must make it
// if they share the plan.
func (p *Plan) ByLeaf(threads int) *LeafOrder {
	if p.leafOrder != nil {
		return p.leafOrder
	}
	if p.Share != nil {
		p.leafOrder = p.shareLeaves()
		return p.leafOrder
	}
	n := p.Shapes[p.Leaf].N
	o := &LeafOrder{Start: make([]int32, n+1), Node: paged.Make[int32](p.pages, p.Cells()), Position: paged.Make[int32](p.pages, p.Cells())}
	// Every run of nodes has the places of its cells of an entity after those of the runs before it.
	runs := max(1, min(threads, p.Cells()/(n+parallel.Block)))
	nodes := func(run int) (from, to int) { return p.Nodes() * run / runs, p.Nodes() * (run + 1) / runs }
	next := make([]int32, runs*n) // by run and entity
	parallel.For(threads, runs, func(run int) {
		own := next[run*n:][:n]
		from, to := nodes(run)
		for _, e := range p.LeafEntity[p.Start[from]:p.Start[to]] {
			own[e]++
		}
	})
	sum := int32(0)
	for e := range n {
		for i := e; i < len(next); i += n {
			next[i], sum = sum, sum+next[i]
		}
		o.Start[e+1] = sum
	}
	parallel.For(threads, runs, func(run int) {
		own := next[run*n:][:n]
		from, to := nodes(run)
		for j := from; j < to; j++ {
			for c := p.Start[j]; c < p.Start[j+1]; c++ {
				at := &own[p.LeafEntity[c]]
				o.Position[c], o.Node[*at] = *at, int32(j)
				*at++
			}
		}
	})
	p.leafOrder = o
	return o
}
