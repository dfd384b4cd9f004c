package dataset

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// Most tables hold each cell once. What is here proves that quickly; where it
// cannot, repeats are looked for.

// distinctInRuns settles sorted tables: rows are runs in which all modes but the
// fastest stay the same; where no run comes again, cells can repeat only within
// one. False means that it does not know, which it finds out early in a table
// that is not sorted. O(n), each worker on its own stretch of rows.
func (t *Table) distinctInRuns(order []int, workers int) bool {
	slow, fast := order[:len(order)-1], order[len(order)-1]
	border := make([]int, workers+1)
	for w := range border {
		at := w * t.Len() / workers
		for at > 0 && at < t.Len() && t.sameCodes(slow, at-1, at) {
			at++ // a run is not cut
		}
		border[w] = at
	}
	runs := make([]table, workers)
	var unknown atomic.Bool
	each(workers, workers, func(w int) {
		if !t.distinctBetween(&runs[w], slow, fast, border[w], border[w+1]) {
			unknown.Store(true)
		}
	})
	if unknown.Load() {
		return false
	}
	for w := 1; w < workers; w++ {
		for _, s := range runs[w].slots {
			if s.key == 0 {
				continue
			}
			if _, ok := runs[0].get(s.key); ok {
				return false
			}
			runs[0].put(s.key, 0)
		}
	}
	return true
}

func (t *Table) sameCodes(modes []int, i, j int) bool {
	for _, m := range modes {
		if t.Codes[m][i] != t.Codes[m][j] {
			return false
		}
	}
	return true
}

// distinctBetween is distinctInRuns for rows from to to-1, and notes their runs.
func (t *Table) distinctBetween(runs *table, slow []int, fast, from, to int) bool {
	lastRun := make([]int32, t.Dicts[fast].Len()) // that held the code
	ends := make([]int, len(t.Codes))             // where each mode's code changes next
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
			key = (key ^ uint64(same[from])) * golden
			key ^= key >> 32
		}
		if _, ok := runs.get(key | 1); ok {
			return false // the run comes again, or its key is another's
		}
		runs.put(key|1, 0)
		run := int32(runs.used)
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

// distinctInBitmap marks every cell in a bitmap, where that takes no more memory
// than the observations do, and reports that none was marked before. It costs one
// random access an observation. False means that it does not know.
func (t *Table) distinctInBitmap(order []int, workers int) bool {
	cells := uint64(1)
	for _, d := range t.Dicts {
		over, product := bits.Mul64(cells, uint64(d.Len()))
		if over != 0 {
			return false
		}
		cells = product
	}
	budget := uint64(1<<20 + 16*t.Len()) // bytes
	if cells/8+1 > budget {
		return false
	}
	// A bitmap a worker, as memory allows; then no bit may be set in two.
	bitmaps := make([][]uint64, min(workers, int(budget/(cells/8+1))))
	var repeated atomic.Bool
	each(workers, len(bitmaps), func(w int) {
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

// mark sets the bits of the cells of observations from to to-1 and reports
// whether one was set before.
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

// slowestFirst orders the modes by how seldom they change from row to row, so
// that the rows of a sorted table mark neighbouring bits.
func (t *Table) slowestFirst() []int {
	order := make([]int, len(t.Codes))
	changes := make([]int, len(t.Codes))
	for m, codes := range t.Codes {
		order[m] = m
		for k := 1; k < min(len(codes), 1<<14); k++ {
			if codes[k] != codes[k-1] {
				changes[m]++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return changes[a] - changes[b] })
	return order
}
