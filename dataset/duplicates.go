package dataset

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// RowPlace is the place of a data row in the input.
type RowPlace struct {
	File string
	Line int    // from 1
	Unit string // what Line counts, see InputError
}

// MergeDuplicates applies a rule, one of [DuplicateRules], to cells that occur more
// than once. Covariates do not identify a cell. A merged cell keeps the position and the
// covariates of its first row, with the rule last those of its last. The rule keep leaves the
// rows as they are: each is an observation of its own, such as a trial that succeeded or not. The function where
// returns the place of a data row, for errors. The processes of a group, which may be nil, have the same table.
func (t *Table) MergeDuplicates(rule string, group peers.Group, workers int, where func(row int) RowPlace) error {
	if rule == "keep" {
		return nil
	}
	order := t.slowestFirst()
	if t.distinctOver(group, order) || t.distinctNested(order, workers) || t.distinctInRuns(order, workers) || t.distinctInBitmap(order, workers) {
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

// repeat is an observation whose cell an earlier observation has.
type repeat struct{ again, first int32 }

// repeats finds every repeated cell. Observations are distributed over shards by the
// hash of their cell, and each shard has its own table. O(n), 12 bytes per
// observation.
func (t *Table) repeats(workers int) []repeat {
	n := t.Len()
	shift := 64 - max(0, bits.Len(uint(n))-15) // about 2^15 observations per shard
	shards := 1 << (64 - shift)
	seed := hashtable.NewSeed()
	modes := t.identifying()
	hash := func(k int) uint64 {
		h := uint64(0)
		for _, m := range modes {
			h = seed.Mix(h ^ uint64(uint32(t.Codes[m][k])))
		}
		return h
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
	parallel.For(workers, shards, func(s int) {
		found := t.repeatsAmong(modes, members[start[s]:start[s+1]], hashes)
		if len(found) > 0 {
			mu.Lock()
			all = append(all, found...)
			mu.Unlock()
		}
	})
	return all
}

func shardOf(hash uint64, shift int) int { return int(hash >> shift) } // 0 for a shift of 64

func (t *Table) repeatsAmong(modes []int, members []int32, hashes []uint64) (found []repeat) {
	size := 1 << bits.Len(uint(2*len(members)))
	slots := make([]int32, size) // member + 1, or 0
	for _, k := range members {
		for i := int(hashes[k]) & (size - 1); ; i = (i + 1) & (size - 1) {
			if slots[i] == 0 {
				slots[i] = k + 1
				break
			}
			if first := slots[i] - 1; hashes[first] == hashes[k] && t.sameCodes(modes, int(first), int(k)) {
				found = append(found, repeat{again: k, first: first})
				break
			}
		}
	}
	return found
}

func (t *Table) duplicateError(p repeat, total int, where func(row int) RowPlace) error {
	place := where(t.SourceRow(int(p.again)))
	return &InputError{
		File: place.File, Line: place.Line, Unit: place.Unit,
		Problem: fmt.Sprintf("cell %s already occurs %s (%s in total)", t.CellName(p.first), t.placeFrom(place.File, p.first, where), plural.Count(total, "repeated row")),
		Remedy:  "set data.duplicates to sum, mean, last or keep",
		Field:   "data.duplicates",
	}
}

// placeFrom describes the place of an observation for a message about a file: "on
// line 2", "in row 2 of other.parquet".
func (t *Table) placeFrom(file string, k int32, where func(row int) RowPlace) string {
	place := where(t.SourceRow(int(k)))
	text := fmt.Sprintf("on line %d", place.Line)
	if place.Unit != "" {
		text = fmt.Sprintf("in %s %d", place.Unit, place.Line)
	}
	if place.File != file {
		text += " of " + place.File
	}
	return text
}

// checkMergedParts refuses to merge rows of different parts, because the cell would
// leak from one part into the other.
func (t *Table) checkMergedParts(pairs []repeat, where func(row int) RowPlace) error {
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
	place := where(t.SourceRow(int(p.again)))
	return &InputError{
		File: place.File, Line: place.Line, Unit: place.Unit, Value: t.Part[p.again].String(),
		Problem: fmt.Sprintf("cell %s is in part %s %s, so its rows cannot be merged", t.CellName(p.first), t.Part[p.first], t.placeFrom(place.File, p.first, where)),
		Remedy:  "give all rows of a cell the same part, or set data.duplicates (--duplicates) to keep, which does not merge them",
	}
}

// merge combines repeated observations into the first of their cell and removes the
// others. Sums are taken in float64 and in file order.
func (t *Table) merge(pairs []repeat, rule string, where func(row int) RowPlace) error {
	slices.SortFunc(pairs, func(a, b repeat) int {
		if a.first != b.first {
			return int(a.first) - int(b.first)
		}
		return int(a.again) - int(b.again)
	})
	gone := make([]bool, t.Len())
	for i := 0; i < len(pairs); {
		first := pairs[i].first
		sum, weights, weighted := t.Target(int(first)), t.weight(first), t.Target(int(first))*t.weight(first)
		exposure, rows := t.exposure(first), 1.0
		last := first
		for ; i < len(pairs) && pairs[i].first == first; i++ {
			last = pairs[i].again
			gone[last] = true
			y, w := t.Target(int(last)), t.weight(last)
			sum += y
			weights += w
			weighted += y * w
			exposure += t.exposure(last)
			if rows++; t.Censored != nil {
				t.Censored[first] = max(t.Censored[first], t.Censored[last]) // a sum with such a part is one
			}
		}
		switch rule {
		case "sum":
			t.setTarget(first, sum)
		case "mean":
			t.setTarget(first, weighted/weights)
			exposure /= rows
		case "last":
			t.setTarget(first, t.Target(int(last)))
			weights, exposure = t.weight(last), t.exposure(last)
			if t.Censored != nil {
				t.Censored[first] = t.Censored[last]
			}
			for m, mode := range t.Modes {
				if mode.Covariate() {
					t.Codes[m][first] = t.Codes[m][last]
				}
			}
		}
		if math.IsInf(float64(t.Y[first]), 0) || weights > math.MaxFloat32 || exposure > math.MaxFloat32 {
			place := where(t.SourceRow(int(first)))
			return &InputError{File: place.File, Line: place.Line, Unit: place.Unit,
				Problem: fmt.Sprintf("the sum over the repeated rows of cell %s exceeds the range of float32", t.CellName(first)),
				Remedy:  "scale the values, or set data.duplicates to last", Field: "data.duplicates"}
		}
		if t.W != nil {
			t.W[first] = float32(weights)
		}
		if t.Exposure != nil {
			t.Exposure[first] = float32(exposure)
		}
	}
	t.drop(gone, pairs)
	return nil
}

// setTarget sets the value of an observation.
func (t *Table) setTarget(k int32, v float64) {
	t.Y[k] = float32(v)
	if t.Low != nil {
		t.Low[k] = float32(v - float64(t.Y[k]))
	}
}

func (t *Table) weight(k int32) float64 {
	if t.W == nil {
		return 1
	}
	return float64(t.W[k])
}

func (t *Table) exposure(k int32) float64 {
	if t.Exposure == nil {
		return 1
	}
	return float64(t.Exposure[k])
}

// drop removes merged observations and records where they went.
func (t *Table) drop(gone []bool, pairs []repeat) {
	n := t.Len() - len(pairs)
	index := make([]int32, t.Len()) // new index of an observation that stays
	source := make([]int32, 0, n)
	for k, isGone := range gone {
		if !isGone {
			index[k] = int32(len(source))
			source = append(source, int32(t.SourceRow(k)))
		}
	}
	for _, p := range pairs {
		t.Merged = append(t.Merged, MergedRow{Row: int32(t.SourceRow(int(p.again))), Into: index[p.first]})
	}
	t.Row = source
	for m := range t.Codes {
		t.Codes[m] = staying(t.Codes[m], gone, n)
	}
	t.Y = staying(t.Y, gone, n)
	if t.Low != nil {
		t.Low = staying(t.Low, gone, n)
	}
	if t.W != nil {
		t.W = staying(t.W, gone, n)
	}
	if t.Exposure != nil {
		t.Exposure = staying(t.Exposure, gone, n)
	}
	if t.Censored != nil {
		t.Censored = staying(t.Censored, gone, n)
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
