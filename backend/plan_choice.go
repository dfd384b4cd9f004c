package backend

import (
	"math/bits"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Ends are observations that can be planned from both ends of a train. The cheaper plan is found
// without building the other one, if a lower bound of its work suffices.
type Ends struct {
	Shapes []Shape
	Plan   func(leaf LeafEnd) *Plan

	// Combinations returns the number of different combinations of the entities of some cores at the observations, or 0
	// if they are not counted.
	Combinations func(cores []int) int

	Cells         int  // number of observations
	SecondMoments bool // of the passes whose work is compared
	Threads       int  // that may plan both ends at the same time
}

// Cheaper returns the plan of less work, the first one if both have the same, and the other one if
// it was built. It is always built if both are needed, which may depend on the cheaper one.
//
// A pass computes a level of the chain of a plan at least once for each combination of entities up
// to it, so the combinations of the whole chain bound the work from below.
func (e *Ends) Cheaper(both func(cheaper *Plan) bool) (cheaper, other *Plan) {
	if len(e.Shapes) == 1 {
		return e.Plan(LeafFirst), nil
	}
	work := (*Plan).Work
	if e.SecondMoments {
		work = (*Plan).SecondMomentWork
	}
	var plans [2]*Plan
	if both == nil || !both(nil) {
		least := [...]float64{e.leastWork(LeafFirst), e.leastWork(LeafLast)}
		begin := LeafFirst
		if least[LeafLast] < least[LeafFirst] {
			begin = LeafLast
		}
		rest := least[1-begin]
		if rest > 0 {
			p := e.Plan(begin)
			spent := work(p)
			if (spent < rest || spent == rest && begin == LeafFirst) && (both == nil || !both(p)) {
				return p, nil
			}
			plans[begin] = p
		}
	}
	parallel.For(min(e.Threads, len(plans)), len(plans), func(i int) {
		if plans[i] == nil {
			plans[i] = e.Plan(LeafEnd(i))
		}
	})
	if work(plans[LeafLast]) < work(plans[LeafFirst]) {
		return plans[LeafLast], plans[LeafFirst]
	}
	return plans[LeafFirst], plans[LeafLast]
}

// leastWork returns a lower bound of the work of a plan, 0 if none is known.
func (e *Ends) leastWork(leaf LeafEnd) float64 {
	p := orient(nil, e.Shapes, leaf)
	computed := make([]float64, len(p.Chain))
	n := e.Combinations(p.Chain)
	if n == 0 {
		return 0
	}
	computed[len(computed)-1] = float64(n)
	if e.SecondMoments {
		return p.secondMomentWork(e.Cells, computed)
	}
	return p.work(e.Cells, computed)
}

// combinationBits is the largest number of combinations per observation for which Combinations has a bit each.
const combinationBits = 32

// combinationSet has a bit for each combination of the entities of some cores.
type combinationSet struct {
	shapes []Shape
	cores  []int
	bits   []uint64
}

// newCombinationSet returns an empty set, nil if it would be too large for n observations.
func newCombinationSet(shapes []Shape, cores []int, n int) *combinationSet {
	all := 1
	for _, core := range cores {
		if all *= shapes[core].N; all > combinationBits*n {
			return nil
		}
	}
	return &combinationSet{shapes, cores, make([]uint64, (all+63)/64)}
}

// add adds the combinations of some observations, given the entities of each core. Several goroutines may add.
func (s *combinationSet) add(entities func(core int) []int32, scratch []int) {
	clear(scratch)
	for _, core := range s.cores {
		n := s.shapes[core].N
		for i, e := range entities(core)[:len(scratch)] {
			scratch[i] = scratch[i]*n + int(e)
		}
	}
	for _, at := range scratch {
		if word, bit := &s.bits[at>>6], uint64(1)<<(at&63); atomic.LoadUint64(word)&bit == 0 {
			atomic.OrUint64(word, bit)
		}
	}
}

// count returns the number of combinations.
func (s *combinationSet) count() (n int) {
	for _, word := range s.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// Combinations returns the number of different combinations of the entities of some cores, or 0 if
// there may be too many to count: index[p][c] is the entity of core p at observation c. It costs a
// bit of memory per possible combination.
func Combinations(threads int, shapes []Shape, index [][]int32, cores []int) int {
	n := len(index[0])
	set := newCombinationSet(shapes, cores, n)
	if set == nil {
		return 0
	}
	parallel.Blocks(threads, n, func(from, to int) {
		set.add(func(core int) []int32 { return index[core][from:to] }, make([]int, to-from))
	})
	return set.count()
}

// SharedCombinations is Combinations of n observations over ranks, each of which looks up some.
func SharedCombinations(ranks Ranks, threads int, shapes []Shape, n int, lookup Lookup, cores []int) int {
	set := newCombinationSet(shapes, cores, n)
	if set == nil {
		return 0
	}
	bounds := RowRuns(n, ranks.Size())
	first := bounds[ranks.Rank()]
	parallel.Blocks(threads, bounds[ranks.Rank()+1]-first, func(from, to int) {
		rows, found := make([]int32, to-from), make([]int32, to-from)
		for i := range rows {
			rows[i] = int32(first + from + i)
		}
		set.add(func(core int) []int32 { lookup(core, found, rows); return found }, make([]int, to-from))
	})
	runs := peers.Runs(ranks, set.bits, Even(len(set.bits), ranks.Size())) // each rank counts the bits of a run of words
	set.bits = runs[0]
	for _, words := range runs[1:] {
		for i, word := range words {
			set.bits[i] |= word
		}
	}
	return int(sumOver(ranks, int64(set.count())))
}
