package response

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Over several ranks, see backend.Ranks, a rank keeps the weights of the leaf core of a term for
// the entities whose cells it has, if it has all of these cells, and those of all other blocks.
// Weights are summed in pieces of parallel.Block along the tree of one process. A rank also keeps
// the rest of the pieces in which its weights begin and end, so that each piece is summed by one
// rank.

// A weightRun is what this process keeps of the weights of a block.
type weightRun struct {
	from, to int           // whole pieces, or all weights
	ranks    backend.Ranks // nil if all processes keep all weights
	weights  []int         // by rank: its first weight
	pieces   []int         // by rank: the first piece that it sums
}

// divide finds the runs of all blocks.
func (s *system) divide() {
	s.own = make([]bool, len(s.field.Terms))
	for _, b := range s.blocks {
		n := len(b.Value)
		run := weightRun{to: n}
		if core, entities := s.chunk.OwnLeaves(b.term); entities != nil && core == b.core && s.plain(b) {
			run = newRun(s.b.(backend.Divided).Ranks(), entities, s.field.Terms[b.term].Cores[core].Slices.Slice(), n)
			s.own[b.term] = true
		}
		s.runs = append(s.runs, run)
	}
}

// newRun divides n weights, given where the entities of each rank start, with length weights each.
func newRun(ranks backend.Ranks, entities []int, length, n int) weightRun {
	r := weightRun{ranks: ranks}
	for _, e := range entities {
		r.weights = append(r.weights, e*length)
		r.pieces = append(r.pieces, (e*length+parallel.Block-1)/parallel.Block)
	}
	me := ranks.Rank()
	r.from = r.weights[me] / parallel.Block * parallel.Block
	r.to = max(r.from, min(n, (r.weights[me+1]+parallel.Block-1)/parallel.Block*parallel.Block))
	return r
}

// complete sends values of weights, of which each rank has those of its entities, to the ranks that
// keep the same pieces.
func (r *weightRun) complete(values []float32) {
	if r.ranks != nil {
		backend.ShareBorders(r.ranks, values, r.weights)
	}
}

// each calls work for pieces of the weights of a block that this process keeps.
func (s *system) each(block int, work func(from, to int)) {
	r := &s.runs[block]
	parallel.Blocks(s.b.Threads(), r.to-r.from, func(from, to int) { work(r.from+from, r.from+to) })
}

// eachOf is each for the slices of a core, of which there are n entries.
func (s *system) eachOf(term, core, n int, work func(from, to int)) {
	if i := s.blockOf(term, core); i >= 0 {
		s.each(i, work)
		return
	}
	parallel.Blocks(s.b.Threads(), n, work)
}

// blockOf returns the block whose weights are the slices of a core, -1 if there is none.
func (s *system) blockOf(term, core int) int {
	for i, b := range s.blocks {
		if b.term == term && b.core == core && s.plain(b) {
			return i
		}
	}
	return -1
}

// sum adds the values of pieces of the weights of a block.
func (s *system) sum(block int, part func(from, to int) float64) float64 {
	return s.reduce(block, len(s.blocks[block].Value), part, func(a, b float64) float64 { return a + b })
}

// reduce combines the values of pieces of n weights of a block, or of entries of slices for block -1, see parallel.Reduce.
func (s *system) reduce(block, n int, part func(from, to int) float64, add func(a, b float64) float64) float64 {
	if block < 0 || s.runs[block].ranks == nil {
		return parallel.Reduce(s.b.Threads(), n, part, add)
	}
	r := &s.runs[block]
	parts, me := make([]float64, r.pieces[len(r.pieces)-1]), r.ranks.Rank()
	first := r.pieces[me]
	parallel.For(s.b.Threads(), r.pieces[me+1]-first, func(i int) {
		parts[first+i] = part((first+i)*parallel.Block, min(n, (first+i+1)*parallel.Block))
	})
	backend.GatherValues(r.ranks, parts, r.pieces, 1)
	return parallel.Tree(parts, add)
}

// largest returns the largest size of the entries of the direction of a core.
func (s *system) largest(term, core int, values []float32) float64 {
	return s.reduce(s.blockOf(term, core), len(values), func(from, to int) float64 {
		most := float32(0)
		for _, v := range values[from:to] {
			most = max(most, v, -v)
		}
		return float64(most)
	}, func(a, b float64) float64 { return max(a, b) })
}

func rootMeanSquare(threads int, values []float32) float64 {
	return math.Sqrt(parallel.Sum(threads, len(values), func(from, to int) (sum float64) {
		for _, v := range values[from:to] {
			sum += float64(v) * float64(v)
		}
		return sum
	}) / float64(max(1, len(values))))
}
