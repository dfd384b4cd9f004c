package dataset

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
)

// mergeDuplicates applies a rule to cells that are seen more than once. A merged
// cell keeps the place of its first row.
func (t *Table) mergeDuplicates(rule string, workers int, where wherefunc) error {
	order := t.slowestFirst()
	if t.distinctInRuns(order, workers) || t.distinctInBitmap(order, workers) {
		return nil
	}
	pairs := t.repeats(workers)
	if len(pairs) == 0 {
		return nil
	}
	if rule == "" || rule == "error" {
		p := slices.MinFunc(pairs, func(a, b repeat) int { return int(a.again) - int(b.again) })
		return t.duplicateError(p, len(pairs), where)
	}
	if err := t.checkMergedParts(pairs, where); err != nil {
		return err
	}
	return t.merge(pairs, rule, where)
}

// wherefunc names the file and line of a data row, and what lines are there.
type wherefunc func(row int) (file string, line int, unit string)

// repeat is an observation whose cell an earlier one has.
type repeat struct{ again, first int32 }

// repeats finds every repeated cell: observations are dealt to shards by the hash
// of their cell, and each shard has a table of its own. O(n), 12 bytes an
// observation.
func (t *Table) repeats(workers int) []repeat {
	n := t.Len()
	shift := 64 - max(0, bits.Len(uint(n))-15) // about 2^15 observations a shard
	shards := 1 << (64 - shift)
	hash := func(k int) uint64 {
		h := uint64(0)
		for _, codes := range t.Codes {
			h = (h ^ uint64(uint32(codes[k]))) * golden
			h ^= h >> 32
		}
		return h * golden
	}
	start := make([]int, shards+1)
	hashes := make([]uint64, n)
	for k := range hashes {
		hashes[k] = hash(k)
		start[shardOf(hashes[k], shift)+1]++
	}
	for s := range shards {
		start[s+1] += start[s]
	}
	members := make([]int32, n) // of shard s: members[start[s]:start[s+1]], ascending
	at := slices.Clone(start)
	for k, h := range hashes {
		s := shardOf(h, shift)
		members[at[s]] = int32(k)
		at[s]++
	}
	var all []repeat
	var mu sync.Mutex
	each(workers, shards, func(s int) {
		found := t.repeatsAmong(members[start[s]:start[s+1]], hashes)
		if len(found) > 0 {
			mu.Lock()
			all = append(all, found...)
			mu.Unlock()
		}
	})
	return all
}

func shardOf(hash uint64, shift int) int { return int(hash >> shift) } // a shift of 64 gives 0

func (t *Table) repeatsAmong(members []int32, hashes []uint64) (found []repeat) {
	size := 1 << bits.Len(uint(2*len(members)))
	slots := make([]int32, size) // member + 1, or 0
	for _, k := range members {
		for i := int(hashes[k]) & (size - 1); ; i = (i + 1) & (size - 1) {
			if slots[i] == 0 {
				slots[i] = k + 1
				break
			}
			if first := slots[i] - 1; hashes[first] == hashes[k] && t.sameCell(first, k) {
				found = append(found, repeat{again: k, first: first})
				break
			}
		}
	}
	return found
}

func (t *Table) sameCell(a, b int32) bool {
	for _, codes := range t.Codes {
		if codes[a] != codes[b] {
			return false
		}
	}
	return true
}

// cellName writes a cell as the command line does: store=2106,item=11776.
func (t *Table) cellName(k int32) string {
	var s []byte
	for m, mode := range t.Modes {
		if m > 0 {
			s = append(s, ',')
		}
		s = fmt.Appendf(s, "%s=%s", mode.Name, t.Dicts[m].ID(t.Codes[m][k]))
	}
	return string(s)
}

func (t *Table) duplicateError(p repeat, total int, where wherefunc) error {
	file, line, unit := where(t.SourceRow(int(p.again)))
	return &InputError{
		File: file, Line: line, Unit: unit,
		Problem: fmt.Sprintf("cell %s was given %s already (%s in all)", t.cellName(p.first), lineFrom(file, p.first, t, where), count(total, "repeated row")),
		Remedy:  "use --duplicates sum, mean or last",
	}
}

// lineFrom says where an observation stands as seen from a file: on line 2, in row
// 2 of other.parquet.
func lineFrom(file string, k int32, t *Table, where wherefunc) string {
	other, line, unit := where(t.SourceRow(int(k)))
	place := fmt.Sprintf("on line %d", line)
	if unit != "" {
		place = fmt.Sprintf("in %s %d", unit, line)
	}
	if other != file {
		place += " of " + other
	}
	return place
}

// checkMergedParts refuses to merge rows of different parts: the cell would leak
// from one into the other.
func (t *Table) checkMergedParts(pairs []repeat, where wherefunc) error {
	if t.Part == nil {
		return nil
	}
	var bad []repeat
	for _, p := range pairs {
		if t.Part[p.again] != t.Part[p.first] {
			bad = append(bad, p)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	p := slices.MinFunc(bad, func(a, b repeat) int { return int(a.again) - int(b.again) })
	file, line, unit := where(t.SourceRow(int(p.again)))
	return &InputError{
		File: file, Line: line, Unit: unit, Value: t.Part[p.again].String(),
		Problem: fmt.Sprintf("cell %s is in part %s %s, so its rows cannot be merged", t.cellName(p.first), t.Part[p.first], lineFrom(file, p.first, t, where)),
		Remedy:  "give all rows of a cell the same part",
	}
}

// merge folds repeated observations into the first of their cell and closes the
// gaps. Sums are taken in float64 and in file order.
func (t *Table) merge(pairs []repeat, rule string, where wherefunc) error {
	slices.SortFunc(pairs, func(a, b repeat) int {
		if a.first != b.first {
			return int(a.first) - int(b.first)
		}
		return int(a.again) - int(b.again)
	})
	gone := make([]bool, t.Len())
	for i := 0; i < len(pairs); {
		first := pairs[i].first
		sum, weights, weighted := float64(t.Y[first]), t.weight(first), float64(t.Y[first])*t.weight(first)
		last := first
		for ; i < len(pairs) && pairs[i].first == first; i++ {
			last = pairs[i].again
			gone[last] = true
			y, w := float64(t.Y[last]), t.weight(last)
			sum += y
			weights += w
			weighted += y * w
		}
		switch rule {
		case "sum":
			t.Y[first] = float32(sum)
		case "mean":
			t.Y[first] = float32(weighted / weights)
		case "last":
			t.Y[first] = t.Y[last]
			weights = t.weight(last)
		}
		if math.IsInf(float64(t.Y[first]), 0) || weights > math.MaxFloat32 {
			file, line, unit := where(t.SourceRow(int(first)))
			return &InputError{File: file, Line: line, Unit: unit, Problem: fmt.Sprintf("the repeated rows of cell %s add up to more than a float32 holds", t.cellName(first)), Remedy: "scale the values, or use --duplicates last"}
		}
		if t.W != nil {
			t.W[first] = float32(weights)
		}
	}
	t.drop(gone, pairs)
	return nil
}

func (t *Table) weight(k int32) float64 {
	if t.W == nil {
		return 1
	}
	return float64(t.W[k])
}

// drop takes merged observations out and notes where they went.
func (t *Table) drop(gone []bool, pairs []repeat) {
	n := t.Len() - len(pairs)
	index := make([]int32, t.Len()) // new place of an observation that stays
	source := make([]int32, 0, n)
	for k, isGone := range gone {
		if !isGone {
			index[k] = int32(len(source))
			source = append(source, int32(t.SourceRow(k)))
		}
	}
	for _, p := range pairs {
		t.merged = append(t.merged, mergedRow{row: int32(t.SourceRow(int(p.again))), into: index[p.first]})
	}
	t.Row = source
	for m := range t.Codes {
		t.Codes[m] = staying(t.Codes[m], gone, n)
	}
	t.Y = staying(t.Y, gone, n)
	if t.W != nil {
		t.W = staying(t.W, gone, n)
	}
	if t.Part != nil {
		t.Part = staying(t.Part, gone, n)
	}
	t.Counts.Merged = len(pairs)
}

func staying[T any](values []T, gone []bool, n int) []T {
	kept := make([]T, 0, n)
	for k, v := range values {
		if !gone[k] {
			kept = append(kept, v)
		}
	}
	return kept
}
