package entity

import (
	"math/bits"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// rowsTogether is the number of rows whose combinations are found at a time.
const rowsTogether = 1 << 18

// keysTogether is the logarithm of the number of successive keys that one part has: their bits are in a cache line.
const keysTogether = 9

// findCombinations lists the combinations of the rows in order of first appearance. The keys are divided into parts,
// one for each thread, which looks through all rows for those of its part.
func (x *Index) findCombinations(threads int, codes [][]int32) {
	rows := len(codes[x.axes[0].Mode])
	parts := 1 << bits.Len(uint(max(1, min(threads, rows/parallel.Block))-1))
	seen := x.newKeySets(parts, rows)
	keys, first := make([]uint64, min(rows, rowsTogether)), make([]bool, min(rows, rowsTogether))
	width := len(x.axes)
	for from := 0; from < rows; from += len(keys) {
		keys, first = keys[:min(len(keys), rows-from)], first[:min(len(first), rows-from)]
		parallel.Parts(threads, len(keys), func(begin, end int) {
			clear(first[begin:end])
			x.packRows(keys[begin:end], codes, from+begin)
		})
		parallel.For(threads, parts, func(part int) {
			own, mask := &seen[part], uint64(parts-1)
			for i, key := range keys {
				if key>>keysTogether&mask == uint64(part) && key != 0 && own.add(key) {
					first[i] = true
				}
			}
		})
		found := make([]int, (len(keys)+parallel.Block-1)/parallel.Block) // by block, then before it
		parallel.Blocks(threads, len(keys), func(begin, end int) {
			for _, f := range first[begin:end] {
				if f {
					found[begin/parallel.Block]++
				}
			}
		})
		before := len(x.combos)
		total := before
		for b, n := range found {
			found[b], total = total, total+n*width
		}
		x.combos = append(x.combos, make([]int32, total-before)...)
		parallel.Blocks(threads, len(keys), func(begin, end int) {
			combos := x.combos[:found[begin/parallel.Block]]
			for i, f := range first[begin:end] {
				if f {
					combos = x.AppendCombination(combos, codes, from+begin+i)
				}
			}
		})
	}
}

// A keySet is a set of packed combinations plus 1: a bit for each where that takes less
// memory than a hash table of the rows may, and less time.
type keySet struct {
	bits []uint64
	hash *hashtable.Table
}

// newKeySets returns the set of each part of the keys. Bits are in the same array.
func (x *Index) newKeySets(parts, rows int) []keySet {
	sets := make([]keySet, parts)
	var bits []uint64
	if x.combinations() <= 64*float64(rows) {
		bits = make([]uint64, int(x.combinations())/64+1)
	}
	for i := range sets {
		if sets[i].bits = bits; bits == nil {
			sets[i].hash = hashtable.New(0)
		}
	}
	return sets
}

// add reports whether the key is new.
func (s *keySet) add(key uint64) bool {
	if s.hash != nil {
		if _, ok := s.hash.Get(key); ok {
			return false
		}
		s.hash.Put(key, 0)
		return true
	}
	word, bit := &s.bits[key>>6], uint64(1)<<(key&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}
