package cpu

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Over ranks, see backend.Ranks, a rank computes a run of the shards of a plan, or of the entities of
// its leaf core. The order of all sums is that of one process: a sum over shards passes from
// rank to rank, each adding its shards. So the bits do not depend on the number of ranks.

// leastDivided is the number of cells from which the work on a plan is divided. Messages
// would cost more than less work.
const leastDivided = 1 << 14

// OnRanks makes the backend divide its work on large plans over ranks. Nil means that it
// works alone.
func (b *Backend) OnRanks(ranks backend.Ranks) *Backend {
	b.ranks = ranks
	return b
}

var _ backend.Divided = (*Backend)(nil)

// Ranks implements backend.Divided.
func (b *Backend) Ranks() backend.Ranks { return b.ranks }

// CellBounds implements backend.Divided.
func (b *Backend) CellBounds(p *backend.Plan) []int {
	if p.Share != nil {
		return p.Share.Cells
	}
	if len(p.Chain) == 0 {
		blocks := b.blockBounds(p)
		if blocks == nil {
			return nil
		}
		bounds := make([]int, len(blocks))
		for r, block := range blocks {
			bounds[r] = min(p.Cells(), block*parallel.Block)
		}
		return bounds
	}
	d := b.divide(p)
	if d.ranks == nil {
		return nil
	}
	return d.cells(p)
}

// LeafBounds implements backend.Divided.
func (b *Backend) LeafBounds(p *backend.Plan) []int {
	order := p.ByLeaf(b.threads)
	entities := b.entityBounds(p, order)
	if entities == nil {
		return nil
	}
	bounds := make([]int, len(entities))
	for r, e := range entities {
		bounds[r] = int(order.Start[e])
	}
	return bounds
}

// division is how the shards of a plan are divided.
type division struct {
	ranks      backend.Ranks // nil if this process computes all of them
	bounds     []int         // shards by rank
	first, end int           // the shards of this process
}

// divide returns the division of a plan.
func (b *Backend) divide(p *backend.Plan) division {
	shards := len(p.Shards) - 1
	if p.Share != nil {
		d := division{ranks: b.ranks, bounds: p.Share.Shards}
		d.first, d.end = d.bounds[d.ranks.Rank()], d.bounds[d.ranks.Rank()+1]
		return d
	}
	if b.ranks == nil || p.Cells() < leastDivided || shards < b.ranks.Size() || b.ranks.Size() == 1 {
		return division{end: shards}
	}
	d := division{ranks: b.ranks, bounds: backend.Even(shards, b.ranks.Size())}
	d.first, d.end = d.bounds[d.ranks.Rank()], d.bounds[d.ranks.Rank()+1]
	return d
}

func (d *division) count() int { return d.end - d.first }

// of maps the bounds of shards to those of what they consist of.
func (d *division) of(start func(shard int) int) []int {
	bounds := make([]int, len(d.bounds))
	for r, shard := range d.bounds {
		bounds[r] = start(shard)
	}
	return bounds
}

// nodes and cells return where the nodes and the cells of each rank start.
func (d *division) nodes(p *backend.Plan) []int {
	if p.Share != nil {
		return p.Share.Nodes
	}
	return d.of(func(shard int) int { return int(p.Shards[shard]) })
}

func (d *division) cells(p *backend.Plan) []int {
	if p.Share != nil {
		return p.Share.Cells
	}
	return d.of(func(shard int) int { return int(p.Start[p.Shards[shard]]) })
}

// owned returns where the entities of each rank start, of the core that shards do not share.
func (d *division) owned(p *backend.Plan) []int {
	if p.Share != nil {
		return p.Share.Owned
	}
	return d.of(func(shard int) int { return int(p.Begin[shard]) })
}

// gatherPass completes what a pass computes by shard: losses, moments of cells, and gradients of the
// core that shards do not share, each unless it is nil. It returns the sum of the losses.
func (d *division) gatherPass(p *backend.Plan, losses []float64, job *backend.Job, owner ...[]float32) float64 {
	if d.ranks != nil {
		if !job.GradientsOnly && (job.Adjoint == backend.Residual || job.Adjoint == backend.Product) {
			backend.GatherValues(d.ranks, losses, d.bounds, 1) // otherwise nobody waits for the slowest rank
		}
		if !job.Local {
			backend.GatherValues(d.ranks, job.Mean, d.cells(p), 1)
			backend.GatherValues(d.ranks, job.Var, d.cells(p), 1)
		}
		for _, g := range owner {
			if job.OwnEntities && p.OwnLeaves() {
				break
			}
			if shape := p.Shapes[p.Alone]; len(g) > 0 {
				backend.GatherValues(d.ranks, g, d.owned(p), shape.Slice())
			}
		}
	}
	loss := 0.0
	for _, l := range losses {
		loss += l
	}
	return loss
}

// chainPiece is the number of values that pass from rank to rank at a time: while one rank
// adds to a piece, the one before it adds to the next.
const chainPiece = 1 << 15

// sumShards adds the parts of all shards in order and returns the sum, in the memory of the
// first part of this process.
func (b *Backend) sumShards(d *division, part func(shard int) []float32) []float32 {
	sum := part(d.first)
	if d.ranks == nil {
		b.forRowRanges(len(sum), d.count(), func(from, to int) { b.addShards(sum, d, part, d.first+1, from, to) })
		return sum
	}
	rank, last := d.ranks.Rank(), d.ranks.Size()-1
	prefix := b.prefix
	if rank > 0 {
		prefix = resize(prefix, min(len(sum), chainPiece))
		b.prefix = prefix
	}
	for at := 0; at < len(sum); at += chainPiece {
		end := min(at+chainPiece, len(sum))
		if rank == 0 {
			b.addShards(sum, d, part, d.first+1, at, end)
		} else {
			before := prefix[:end-at]
			d.ranks.Receive(backend.Bytes(before), rank-1)
			b.chain.add(before, sum[at:end])
			copy(sum[at:end], before)
			b.addShards(sum, d, part, d.first+1, at, end)
		}
		if rank < last {
			d.ranks.Send(backend.Bytes(sum[at:end]), rank+1)
		}
	}
	d.ranks.Broadcast(backend.Bytes(sum), last)
	return sum
}

// addShards adds the parts of the shards from one on to entries [from, to) of a sum.
func (b *Backend) addShards(sum []float32, d *division, part func(shard int) []float32, shard, from, to int) {
	for ; shard < d.end; shard++ {
		b.chain.add(sum[from:to], part(shard)[from:to])
	}
}

// entityBounds returns where the entities of the leaf core of each rank start, for about equal
// numbers of cells; nil if this process computes all of them.
func (b *Backend) entityBounds(p *backend.Plan, order *backend.LeafOrder) []int {
	if d := b.divide(p); d.ranks == nil {
		return nil
	}
	return p.LeafRuns(order.Start, b.ranks.Size())
}

// entityRange returns the entities of the leaf core that this process computes.
func (b *Backend) entityRange(p *backend.Plan, bounds []int) (from, to int) {
	if bounds == nil {
		return 0, p.Shapes[p.Leaf].N
	}
	return bounds[b.ranks.Rank()], bounds[b.ranks.Rank()+1]
}

// EntityBounds implements backend.Divided.
func (b *Backend) EntityBounds(p *backend.Plan) []int {
	if len(p.Chain) == 0 {
		return nil
	}
	return b.entityBounds(p, p.ByLeaf(b.threads))
}

// blockBounds returns where the blocks of cells of each rank start in a plan without chain; nil
// if this process computes all of them.
func (b *Backend) blockBounds(p *backend.Plan) []int {
	blocks := (p.Cells() + parallel.Block - 1) / parallel.Block
	if b.ranks == nil || b.ranks.Size() == 1 || blocks < b.ranks.Size() {
		return nil
	}
	return backend.Even(blocks, b.ranks.Size())
}
