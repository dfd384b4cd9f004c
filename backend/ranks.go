package backend

import (
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Ranks are processes that run the same program on the same data and divide the work of passes:
// each computes some shards or entities, and all have all results. The methods are called by
// all of them in the same order, from one goroutine at a time. Package mpi implements them.
type Ranks interface {
	Rank() int // of this process, from 0
	Size() int // number of processes

	// Broadcast copies the data of rank root to all others.
	Broadcast(data []byte, root int)
	// Gather completes data on all ranks: rank r has the bytes bounds[r]..bounds[r+1].
	Gather(data []byte, bounds []int)
	// Send and Receive pass data to and from one rank.
	Send(data []byte, to int)
	Receive(data []byte, from int)
	// Exchange sends send[sent[r]:sent[r+1]] to each rank r and receives
	// received[taken[r]:taken[r+1]] from it.
	Exchange(send, received []byte, sent, taken []int)
}

// Even cuts n things into one run per rank, of about equal length: run r is
// bounds[r]..bounds[r+1].
func Even(n, ranks int) (bounds []int) { return peers.Even(n, ranks) }

// RowRuns cuts n observations into one run of whole blocks per rank: rank r has those from
// bounds[r] to bounds[r+1]. What a rank knows of single observations is about its own run.
func RowRuns(n, ranks int) (bounds []int) { return peers.Rows(n, ranks) }

// Bytes returns the memory of values, which have no pointers, without a copy.
func Bytes[T any](values []T) []byte { return peers.Bytes(values) }

// GatherValues completes values, which have no pointers, on all ranks: rank r has
// values[bounds[r]*length : bounds[r+1]*length].
func GatherValues[T any](ranks Ranks, values []T, bounds []int, length int) {
	peers.Values(ranks, values, bounds, length)
}

// ShareBorders completes the blocks of values that several ranks have some of, on all ranks: rank r
// has values[bounds[r]:bounds[r+1]].
func ShareBorders(ranks Ranks, values []float32, bounds []int) {
	var blocks []int
	for _, bound := range bounds[1 : len(bounds)-1] {
		block := bound / parallel.Block
		if bound%parallel.Block != 0 && (len(blocks) == 0 || blocks[len(blocks)-1] != block) {
			blocks = append(blocks, block)
		}
	}
	// One after the other, the blocks are in the order of the ranks too.
	var packed []float32
	runs := make([]int, len(bounds))
	each := func(work func(block []float32, from int)) {
		for _, block := range blocks {
			from := block * parallel.Block
			work(values[from:min(len(values), from+parallel.Block)], from)
		}
	}
	each(func(block []float32, from int) {
		packed = append(packed, block...)
		for r, bound := range bounds {
			runs[r] += min(max(bound-from, 0), len(block))
		}
	})
	GatherValues(ranks, packed, runs, 1)
	each(func(block []float32, _ int) { packed = packed[copy(block, packed):] })
}

// BroadcastBytes returns the data of rank 0, of any length, on all ranks.
func BroadcastBytes(ranks Ranks, data []byte) []byte {
	size := []int64{int64(len(data))}
	ranks.Broadcast(Bytes(size), 0)
	if ranks.Rank() > 0 {
		data = make([]byte, size[0])
	}
	ranks.Broadcast(data, 0)
	return data
}

// Divided is implemented by a backend that divides its work over ranks. Visit of
// NormalEquations is then called for entities of this rank only.
type Divided interface {
	Ranks() Ranks // nil if the backend works alone

	// CellBounds returns where the cells of each rank start in the order of a plan: its passes read
	// the target there only. It is nil if each rank computes all cells.
	CellBounds(p *Plan) []int

	// LeafBounds is CellBounds for NormalEquationsByLeaf and the leaf order.
	LeafBounds(p *Plan) []int

	// NormalEquationsByLeaf is NormalEquations without weights, given the target in leaf order.
	NormalEquationsByLeaf(p *Plan, cores []Slices, target []float32, visit EquationsFunc)

	// EntityBounds returns where the entities of the leaf core of each rank start, for which visit is called there. It
	// is nil if each rank visits all entities.
	EntityBounds(p *Plan) []int
}

// RanksOf returns the ranks of a backend, nil if it works alone.
func RanksOf(b Backend) Ranks {
	if d, ok := b.(Divided); ok {
		return d.Ranks()
	}
	return nil
}

// ShareEntities completes the values that were set by visit of NormalEquations, length of
// them per entity, and the number n of events there, on all ranks.
func ShareEntities(b Backend, p *Plan, values []float32, length int, n int64) int64 {
	d, ok := b.(Divided)
	if !ok {
		return n
	}
	bounds := d.EntityBounds(p)
	if bounds == nil {
		return n
	}
	GatherValues(d.Ranks(), values, bounds, length)
	return sumOver(d.Ranks(), n)
}

// sumOver returns the sum of a number over the ranks.
func sumOver(ranks Ranks, n int64) (sum int64) {
	for _, v := range peers.Each(ranks, n) {
		sum += v
	}
	return sum
}

// Pieces computes length numbers for each of n pieces of work, which work adds to dst, and returns
// them in the order of the pieces. Over ranks, which call it together, each computes a run of many
// pieces.
func Pieces(b Backend, n, length int, work func(piece int, dst []float64)) []float64 {
	values := make([]float64, n*length)
	bounds, rank := []int{0, n}, 0
	ranks := RanksOf(b)
	if ranks != nil && n < leastPieces*ranks.Size() {
		ranks = nil
	}
	if ranks != nil {
		bounds, rank = Even(n, ranks.Size()), ranks.Rank()
	}
	first := bounds[rank]
	own := bounds[rank+1] - first
	runs := min(own, 4*b.Threads())
	parallel.For(b.Threads(), runs, func(r int) {
		sum := make([]float64, length, length+cacheLine) // not in a cache line with those of other threads
		for i := first + own*r/runs; i < first+own*(r+1)/runs; i++ {
			clear(sum)
			work(i, sum)
			copy(values[i*length:], sum)
		}
	})
	if ranks != nil {
		GatherValues(ranks, values, bounds, length)
	}
	return values
}

// cacheLine is the number of values of two cache lines, which are read together.
const cacheLine = 16

// leastPieces is the number of pieces per rank from which they are divided.
const leastPieces = 8

// Runs divides the entities of a core over ranks, or gives all to the only process.
type Runs struct {
	First, End int // the entities of this process

	ranks  Ranks // nil if there is only one
	bounds []int
}

// leastSolved is the number of entries of the systems of all entities from which these are divided over ranks.
const leastSolved = 1 << 15

// EntityRuns divides the entities of an outer core, whose equations a pass over a plan computes: a
// rank has those of the leaf core for which a job with OwnEntities has derivatives, and otherwise
// about as many as the others.
func EntityRuns(b Backend, p *Plan, core int) Runs {
	n, d := p.Shapes[core].N, Divided(nil)
	if own, ok := b.(Divided); ok && own.Ranks() != nil {
		d = own
	}
	if d == nil {
		return Runs{End: n}
	}
	var bounds []int
	if core == p.Leaf {
		bounds = d.EntityBounds(p)
	}
	if bounds == nil {
		if slice := p.Shapes[core].Slice(); n*slice*slice < leastSolved {
			return Runs{End: n}
		}
		bounds = Even(n, d.Ranks().Size())
	}
	return Runs{First: bounds[d.Ranks().Rank()], End: bounds[d.Ranks().Rank()+1], ranks: d.Ranks(), bounds: bounds}
}

// Share completes values with length entries per entity on all ranks.
func (r *Runs) Share(values []float32, length int) {
	if r.ranks != nil {
		GatherValues(r.ranks, values, r.bounds, length)
	}
}

// Sum returns the sum of a number over the ranks.
func (r *Runs) Sum(n int64) int64 {
	if r.ranks == nil {
		return n
	}
	return sumOver(r.ranks, n)
}
