package backend

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// ownRows returns the entities of a core at the observations that this process looks up, a run of
// them, and the first one.
func (s *sharer) ownRows(core int) (entities []int32, first int) {
	bounds := RowRuns(s.n, s.ranks.Size())
	first = bounds[s.ranks.Rank()]
	entities = make([]int32, bounds[s.ranks.Rank()+1]-first)
	parallel.Blocks(s.threads, len(entities), func(from, to int) {
		rows := make([]int32, 0, to-from)
		s.lookupRange(core, entities[from:to], first+from, &rows)
	})
	return entities, first
}

// count returns the number of observations by entity of a core.
func (s *sharer) count(core int) []int32 {
	entities, _ := s.ownRows(core)
	own := make([]int32, s.Shapes[core].N)
	for _, e := range entities {
		own[e]++
	}
	return peers.Sum(s.ranks, own)
}

// choose returns the observations of this process, in increasing order, and their entities by core,
// if rank r has those whose entity of a core is in [first[r], end[r]). Each process looks up its
// own run and sends what it finds to the ranks that have it.
func (s *sharer) choose(core int, first, end []int) (rows []int32, index [][]int32) {
	size := s.ranks.Size()
	low, high := make([]int32, s.Shapes[core].N), make([]int32, s.Shapes[core].N) // by entity: the first rank that has it, and after the last
	for r := size - 1; r >= 0; r-- {
		for e := first[r]; e < end[r]; e++ {
			low[e], high[e] = int32(r), max(high[e], int32(r+1))
		}
	}
	entities, from := s.ownRows(core)
	sent := make([]int, size+1)
	for _, e := range entities {
		for r := low[e]; r < high[e]; r++ {
			sent[r+1]++
		}
	}
	for r := range size {
		sent[r+1] += sent[r]
	}
	order, next := make([]int32, sent[size]), slices.Clone(sent)
	for i, e := range entities {
		for r := low[e]; r < high[e]; r++ {
			order[next[r]] = int32(i)
			next[r]++
		}
	}
	taken := peers.Taken(s.ranks, sent)
	pass := func(values []int32) []int32 {
		received := paged.Make[int32](s.pages, taken[size])
		peers.Pass(s.ranks, received, values, sent, taken)
		return received
	}
	index, out := make([][]int32, len(s.Shapes)), make([]int32, len(order))
	for c := range index {
		column := entities
		if c != core {
			column, _ = s.ownRows(c)
		}
		for k, i := range order {
			out[k] = column[i]
		}
		index[c] = pass(out)
	}
	for k := range order {
		order[k] += int32(from)
	}
	return pass(order), index
}
