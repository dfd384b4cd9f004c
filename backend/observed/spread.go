package observed

import (
	"slices"
	"sort"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Over several ranks, see backend.Ranks, a rank keeps only some entries of the arrays up to
// date: by observation those of a run of blocks, in the order of a plan those that the backend
// computes on it. A route moves values from one order to the other. Sums of blocks
// are combined along the same tree as in one process, so the bits are the same.

// A Spread is how observations are spread over ranks: each has a run of blocks. All ranks call its methods in the same
// order.
type Spread struct {
	b      backend.Backend
	on     backend.Divided // the same
	ranks  backend.Ranks
	n      int   // observations
	blocks []int // by rank: its first block
	routes map[routeOf]*route

	send, received []float32
}

// NewSpread spreads n observations over the ranks of a backend. It returns nil if the backend works alone, or if there
// are too few.
func NewSpread(b backend.Backend, n int) *Spread {
	on, ok := b.(backend.Divided)
	blocks := (n + parallel.Block - 1) / parallel.Block
	if !ok || on.Ranks() == nil || blocks < on.Ranks().Size() {
		return nil
	}
	return &Spread{b: b, on: on, ranks: on.Ranks(), n: n, blocks: backend.Even(blocks, on.Ranks().Size()), routes: map[routeOf]*route{}}
}

// Plan plans the observations, see backend.NewSharedPlan.
func (s *Spread) Plan(shapes []backend.Shape, lookup backend.Lookup, leaf backend.LeafEnd) *backend.Plan {
	return backend.NewSharedPlan(s.b, s.ranks, shapes, s.n, lookup, leaf)
}

// Ends returns the observations as they can be planned from both ends of a train.
func (s *Spread) Ends(shapes []backend.Shape, lookup backend.Lookup) backend.Ends {
	return backend.Ends{Shapes: shapes, Cells: s.n, Threads: 1, // all ranks plan in the same order
		Plan: func(leaf backend.LeafEnd) *backend.Plan { return s.Plan(shapes, lookup, leaf) },
		Combinations: func(chain []int) int {
			return backend.SharedCombinations(s.ranks, s.b.Threads(), shapes, s.n, lookup, chain)
		}}
}

// routeOf identifies a route: to the cells of a plan in its order or by leaf entity.
type routeOf struct {
	plan   *backend.Plan
	byLeaf bool
}

// route lists the observations of this rank in the order in which they are sent, by
// receiver, and the positions in the other order where those of each sender belong.
type route struct {
	observations, positions []int32
	sent, taken             []int // by rank
}

// Divide spreads the observations over the ranks of the backend and reports whether it did. Afterwards, only
// methods of Data may read arrays with one entry per observation. It does nothing if there is one
// process, or if there are weights or products, which every rank needs.
func (d *Data) Divide() bool {
	if d.W == nil && d.Partners == nil {
		d.spread = NewSpread(d.b, d.Len())
	}
	return d.spread != nil
}

// Own returns the observations of this rank.
func (s *Spread) Own() (from, to int) {
	bounds := s.bounds()
	return bounds[s.ranks.Rank()], bounds[s.ranks.Rank()+1]
}

// OwnCells returns the cells of a plan that the backend computes on this rank.
func (s *Spread) OwnCells(p *backend.Plan) (from, to int) {
	if bounds := s.on.CellBounds(p); bounds != nil {
		return bounds[s.ranks.Rank()], bounds[s.ranks.Rank()+1]
	}
	return 0, p.Cells()
}

// bounds returns where the observations of each rank start.
func (s *Spread) bounds() []int { return backend.RowRuns(s.n, s.ranks.Size()) }

// eachBlock calls work for blocks of the observations of this process.
func (d *Data) eachBlock(work func(from, to int)) {
	if d.spread == nil {
		parallel.Blocks(d.b.Threads(), d.Len(), work)
		return
	}
	d.spread.Blocks(work)
}

// Blocks calls work for the blocks of observations of this rank.
func (s *Spread) Blocks(work func(from, to int)) {
	from, to := s.Own()
	parallel.Blocks(s.b.Threads(), to-from, func(a, b int) { work(from+a, from+b) })
}

// reduce is parallel.Reduce over all observations.
func reduce[T any](d *Data, part func(from, to int) T, add func(a, b T) T) T {
	if d.spread == nil {
		return parallel.Reduce(d.b.Threads(), d.Len(), part, add)
	}
	return SpreadReduce(d.spread, part, add)
}

// SpreadReduce is parallel.Reduce over the observations, of which each rank computes its own. The
// values have no pointers.
func SpreadReduce[T any](s *Spread, part func(from, to int) T, add func(a, b T) T) T {
	return reduceBlocks(s, s.blocks, part, add)
}

// reduceBlocks is SpreadReduce, given the blocks of each rank.
func reduceBlocks[T any](s *Spread, blocks []int, part func(from, to int) T, add func(a, b T) T) T {
	parts := make([]T, blocks[len(blocks)-1])
	r := s.ranks.Rank()
	parallel.For(s.b.Threads(), blocks[r+1]-blocks[r], func(i int) {
		block := blocks[r] + i
		parts[block] = part(block*parallel.Block, min(s.n, (block+1)*parallel.Block))
	})
	backend.GatherValues(s.ranks, parts, blocks, 1)
	return parallel.Tree(parts, add)
}

// complete gives all ranks all values of the observations.
func (d *Data) complete(values []float32) {
	if d.spread != nil {
		d.spread.Complete(values)
	}
}

// Complete gives all ranks all values of the observations.
func (s *Spread) Complete(values []float32) { backend.GatherValues(s.ranks, values, s.bounds(), 1) }

// shareAt completes the values of some observations, in increasing order, of which each rank has its own.
func shareAt[T any](s *Spread, values []T, rows []int) {
	bounds := s.bounds()
	for r, first := range bounds {
		bounds[r] = sort.SearchInts(rows, first)
	}
	backend.GatherValues(s.ranks, values, bounds, 1)
}

// ShareCodes completes the codes of some spread observations, in increasing order, of which each rank has its own.
func (d *Data) ShareCodes(codes []int32, rows []int) { shareAt(d.spread, codes, rows) }

// gather copies the target to dst in the order of a plan.
func (d *Data) gather(p *backend.Plan, dst, src []float32) {
	if d.spread != nil {
		d.spread.Gather(p, dst, src)
		return
	}
	backend.Gather(d.b, p, dst, src)
}

// scatter copies values in the order of a plan to observations.
func (d *Data) scatter(p *backend.Plan, dst, src []float32) {
	if d.spread != nil {
		d.spread.Scatter(p, dst, src)
		return
	}
	backend.Scatter(d.b, p, dst, src)
}

// Gather copies the values of observations, of which each rank has its own, to the cells of a plan that the backend
// computes on this rank.
func (s *Spread) Gather(p *backend.Plan, dst, src []float32) {
	if bounds := s.on.CellBounds(p); bounds != nil {
		s.forward(s.route(p, false, bounds), dst, src)
		return
	}
	s.Complete(src)
	backend.Gather(s.b, p, dst, src)
}

// Scatter copies the values of the cells of a plan that the backend computes on this rank to the observations of each.
func (s *Spread) Scatter(p *backend.Plan, dst, src []float32) {
	if bounds := s.on.CellBounds(p); bounds != nil {
		s.backward(s.route(p, false, bounds), dst, src)
		return
	}
	backend.Scatter(s.b, p, dst, src)
}

// InLeafOrder returns the target in the leaf order of a plan, for NormalEquationsByLeaf of the
// backend, until the next call of another method. It returns nil if that is not needed.
func (d *Data) InLeafOrder(p *backend.Plan) []float32 {
	if d.spread == nil || len(p.Chain) == 0 {
		return nil
	}
	bounds := d.spread.on.LeafBounds(p)
	if bounds == nil {
		return nil
	}
	d.spread.forward(d.spread.route(p, true, bounds), d.planTarget, d.target)
	d.gathered = nil
	return d.planTarget
}

// route returns the route to a plan, of whose positions each rank has those from its bound on.
func (s *Spread) route(p *backend.Plan, byLeaf bool, bounds []int) *route {
	key := routeOf{p, byLeaf}
	if r := s.routes[key]; r != nil {
		return r
	}
	n, me, size := p.Cells(), s.ranks.Rank(), s.ranks.Size()
	source := p.Source
	switch {
	case byLeaf && p.ByLeaf(1).Shared():
		source = p.ByLeaf(1).Source()
	case byLeaf:
		source = make([]int32, n)
		for c, position := range p.ByLeaf(1).Position {
			source[position] = p.Source[c]
		}
	}
	r := &route{taken: make([]int, size+1)}
	owners := s.bounds()
	rankOf := func(o int32) int { return sort.SearchInts(owners[1:], int(o)+1) }
	mine := source[bounds[me]:bounds[me+1]]
	for _, o := range mine {
		r.taken[rankOf(o)+1]++
	}
	for k := range size {
		r.taken[k+1] += r.taken[k]
	}
	// Each rank asks the others for observations, in the order of its positions.
	r.positions = make([]int32, len(mine))
	asked := make([]int32, len(mine))
	next := slices.Clone(r.taken)
	for i, o := range mine {
		at := &next[rankOf(o)]
		r.positions[*at], asked[*at] = int32(bounds[me]+i), o
		*at++
	}
	r.sent = peers.Taken(s.ranks, r.taken)
	r.observations = make([]int32, r.sent[size])
	peers.Pass(s.ranks, r.observations, asked, r.taken, r.sent)
	s.routes[key] = r
	return r
}

// forward moves values of observations to the positions of a route.
func (s *Spread) forward(r *route, dst, src []float32) {
	s.move(dst, r.positions, r.taken, src, r.observations, r.sent)
}

// backward moves values at the positions of a route to the observations.
func (s *Spread) backward(r *route, dst, src []float32) {
	s.move(dst, r.observations, r.sent, src, r.positions, r.taken)
}

// move sends the entries of src at from and stores what it receives in those of dst at to.
func (s *Spread) move(dst []float32, to []int32, taken []int, src []float32, from []int32, sent []int) {
	size := max(len(from), len(to))
	if cap(s.send) < size {
		s.send, s.received = make([]float32, size), make([]float32, size)
	}
	send, received := s.send[:len(from)], s.received[:len(to)]
	parallel.Blocks(s.b.Threads(), len(from), func(a, e int) {
		for i, at := range from[a:e] {
			send[a+i] = src[at]
		}
	})
	peers.Pass(s.ranks, received, send, sent, taken)
	parallel.Blocks(s.b.Threads(), len(to), func(a, e int) {
		for i, at := range to[a:e] {
			dst[at] = received[a+i]
		}
	})
}

// sumCells adds values in the order of a plan, of which each rank has those of its cells, in blocks.
func (d *Data) sumCells(p *backend.Plan, values []float32) float64 {
	part := func(from, to int) float64 {
		sum := 0.0
		for _, v := range values[from:to] {
			sum += float64(v)
		}
		return sum
	}
	plus := func(a, b float64) float64 { return a + b }
	var bounds []int
	if d.spread != nil {
		bounds = d.spread.on.CellBounds(p)
	}
	if bounds == nil {
		return parallel.Sum(d.b.Threads(), d.Len(), part)
	}
	// A block belongs to the rank with its first cell, which gets those of others.
	blocks := make([]int, len(bounds))
	for r, cell := range bounds {
		blocks[r] = (cell + parallel.Block - 1) / parallel.Block
	}
	backend.ShareBorders(d.spread.ranks, values[:d.Len()], bounds)
	return reduceBlocks(d.spread, blocks, part, plus)
}
