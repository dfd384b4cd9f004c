package dataset

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Most tables contain each cell once. The functions in this file prove that quickly.
// If they fail, repeated cells are searched for.

// distinctNested handles tables that are sorted by all modes, one within the other: within a run of rows that have the
// same codes in the slower modes, each code of the next mode forms one run. The result false means unknown; in a table
// that is not sorted this shows early. O(n), without a hash table; each worker takes ranges of rows that
// begin and end with a change of the slowest mode.
func (t *Table) distinctNested(order []int, workers int) bool {
	if len(order) < 2 || t.Len() > math.MaxInt32/len(order) { // runs are numbered
		return false
	}
	slowest := t.Codes[order[0]]
	ranges := rangesPerWorker * workers
	border := func(r int) int {
		at := r * len(slowest) / ranges
		for at > 0 && at < len(slowest) && slowest[at-1] == slowest[at] {
			at++
		}
		return at
	}
	if border(1) > len(slowest)/2 && workers > 1 {
		return false // too few changes to divide the rows
	}
	memory := make([]nesting, workers)
	codes := make([][]int32, ranges) // of the slowest mode
	var unknown atomic.Bool
	parallel.ForWorkers(workers, ranges, func(worker, r int) {
		if unknown.Load() {
			return
		}
		var ok bool
		if codes[r], ok = memory[worker].distinct(t, order, border(r), border(r+1)); !ok {
			unknown.Store(true)
		}
	})
	if unknown.Load() {
		return false
	}
	seen := make([]bool, t.Dicts[order[0]].Len())
	for _, of := range codes {
		for _, code := range of {
			if seen[code] {
				return false
			}
			seen[code] = true
		}
	}
	return true
}

// rangesPerWorker is the number of ranges of rows per worker: CPUs differ in speed.
const rangesPerWorker = 4

// nesting is the memory of one worker.
type nesting struct {
	last [][]int32 // by mode in order and code: the run of the slower modes that contained it last
	run  int32     // number of runs so far
}

// distinct proves that no cell of the rows [from, to) repeats, and returns their codes in the slowest mode.
func (s *nesting) distinct(t *Table, order []int, from, to int) (slowest []int32, ok bool) {
	if s.last == nil {
		for _, m := range order {
			s.last = append(s.last, make([]int32, t.Dicts[m].Len()))
		}
	}
	deepest := len(order) - 1
	ends := make([]int, deepest)     // next row at which the code of each slow mode changes
	runs := make([]int32, deepest+1) // the run of the modes before each mode
	s.run++
	runs[0] = s.run
	for from < to {
		end := to
		changed := false
		for level, m := range order[:deepest] {
			if ends[level] <= from {
				changed = true
				codes := t.Codes[m][:to]
				next, code := from+1, codes[from]
				for next < len(codes) && codes[next] == code {
					next++
				}
				ends[level] = next
			}
			end = min(end, ends[level])
			if !changed {
				continue
			}
			code := t.Codes[m][from]
			if s.last[level][code] == runs[level] {
				return nil, false
			}
			s.last[level][code] = runs[level]
			if level == 0 {
				slowest = append(slowest, code)
			}
			s.run++
			runs[level+1] = s.run
		}
		last, run := s.last[deepest], runs[deepest]
		for _, code := range t.Codes[order[deepest]][from:end] {
			if last[code] == run {
				return nil, false
			}
			last[code] = run
		}
		from = end
	}
	return slowest, true
}

// distinctInRuns handles sorted tables. Their rows form runs in which all modes but
// the fastest are constant. If no run occurs twice, a cell can repeat only within a
// run. The result false means unknown; in a table that is not sorted this shows
// early. O(n); each worker has its own range of rows.
func (t *Table) distinctInRuns(order []int, workers int) bool {
	slow, fast := order[:len(order)-1], order[len(order)-1]
	border := make([]int, workers+1)
	for w := range border {
		at := w * t.Len() / workers
		for at > 0 && at < t.Len() && t.sameCodes(slow, at-1, at) {
			at++ // do not cut a run
		}
		border[w] = at
	}
	runs := make([]hashtable.Table, workers)
	var unknown atomic.Bool
	parallel.For(workers, workers, func(w int) {
		if !t.distinctBetween(&runs[w], slow, fast, border[w], border[w+1]) {
			unknown.Store(true)
		}
	})
	if unknown.Load() {
		return false
	}
	// No run may occur in two tables. Each goroutine compares some of the keys.
	var repeated atomic.Bool
	parallel.For(workers, workers, func(part int) {
		var seen hashtable.Table
		for w := range runs {
			for key := range runs[w].Keys() {
				if int(key>>33%uint64(workers)) != part {
					continue
				}
				if _, ok := seen.Get(key); ok {
					repeated.Store(true)
					return
				}
				seen.Put(key, 0)
			}
		}
	})
	return !repeated.Load()
}

// distinctOver is distinctInRuns by the processes of a group. Each has a range of rows; no id of the slowest mode may
// occur in two of them.
func (t *Table) distinctOver(group peers.Group, order []int) bool {
	if group == nil || len(order) < 2 || t.Len() < leastShared {
		return false
	}
	slowest := t.Codes[order[0]]
	border := peers.Even(t.Len(), group.Size())
	for r, at := range border {
		for at > 0 && at < t.Len() && slowest[at-1] == slowest[at] {
			at++
		}
		border[r] = at
	}
	return t.distinctAmong(group, order, border[group.Rank()], border[group.Rank()+1])
}

// distinctBetween is distinctInRuns for the rows [from, to). It records their runs.
func (t *Table) distinctBetween(runs *hashtable.Table, slow []int, fast, from, to int) bool {
	lastRun := make([]int32, t.Dicts[fast].Len()) // that contained the code
	ends := make([]int, len(t.Codes))             // next row at which each mode's code changes
	codes := t.Codes[fast]
	for from < to {
		end := to
		key := uint64(1)
		for _, m := range slow {
			same := t.Codes[m][:to]
			if ends[m] <= from {
				next := from + 1
				for next < len(same) && same[next] == same[from] {
					next++
				}
				ends[m] = next
			}
			end = min(end, ends[m])
			key = (key ^ uint64(same[from])) * hashtable.Golden
			key ^= key >> 32
		}
		if _, ok := runs.Get(key | 1); ok {
			return false // the run occurs twice, or two runs have the same key
		}
		runs.Put(key|1, 0)
		run := int32(runs.Len())
		for _, code := range codes[from:end] {
			if lastRun[code] == run {
				return false
			}
			lastRun[code] = run
		}
		from = end
	}
	return true
}

// distinctInBitmap marks every cell in a bitmap and reports whether no cell was
// marked twice. It costs one random access per observation. The result false also
// means that the bitmap would take more memory than the observations.
func (t *Table) distinctInBitmap(order []int, workers int) bool {
	cells := uint64(1)
	for _, m := range order {
		over, product := bits.Mul64(cells, uint64(t.Dicts[m].Len()))
		if over != 0 {
			return false
		}
		cells = product
	}
	budget := uint64(1<<20 + 16*t.Len()) // bytes
	if cells/8+1 > budget {
		return false
	}
	// One bitmap per worker, as memory allows. Afterwards no bit may be set in two.
	bitmaps := make([][]uint64, min(workers, int(budget/(cells/8+1))))
	var repeated atomic.Bool
	parallel.For(workers, len(bitmaps), func(w int) {
		bitmaps[w] = make([]uint64, cells/64+1)
		from, to := w*t.Len()/len(bitmaps), (w+1)*t.Len()/len(bitmaps)
		if t.mark(bitmaps[w], order, from, to) {
			repeated.Store(true)
		}
	})
	seen := bitmaps[0]
	for _, other := range bitmaps[1:] {
		other = other[:len(seen)]
		common := uint64(0)
		for i, word := range seen {
			common |= word & other[i]
			seen[i] = word | other[i]
		}
		if common != 0 {
			return false
		}
	}
	return !repeated.Load()
}

// mark sets the bits of the cells of the observations [from, to) and reports whether
// one was already set.
func (t *Table) mark(seen []uint64, order []int, from, to int) bool {
	var cells [1024]uint64
	for ; from < to; from += len(cells) {
		block := cells[:min(len(cells), to-from)]
		clear(block)
		for _, m := range order {
			size := uint64(t.Dicts[m].Len())
			codes := t.Codes[m][from:][:len(block)]
			for k, cell := range block {
				block[k] = cell*size + uint64(codes[k])
			}
		}
		before := uint64(0)
		for _, cell := range block {
			word, bit := &seen[cell/64], uint64(1)<<(cell%64)
			before |= *word & bit
			*word |= bit
		}
		if before != 0 {
			return true
		}
	}
	return false
}

// slowestFirst orders the modes that identify a cell by how rarely they change from row
// to row, so that the rows of a sorted table mark neighbouring bits.
func (t *Table) slowestFirst() []int {
	order := t.identifying()
	changes := make([]int, len(t.Codes))
	for _, m := range order {
		codes := t.Codes[m]
		for k := 1; k < min(len(codes), 1<<14); k++ {
			if codes[k] != codes[k-1] {
				changes[m]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return changes[a] - changes[b] })
	return order
}
