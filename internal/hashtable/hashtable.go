// Package hashtable maps 64-bit keys to codes.
package hashtable

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Golden is 2^64 divided by the golden ratio. The high bits of its multiples are
// spread evenly.
const Golden = 0x9e3779b97f4a7c15

// A Seed makes hashes that nobody can predict, so that nobody can choose keys that
// collide. Results must not depend on it.
type Seed struct{ add, times uint64 }

// NewSeed returns a random seed.
func NewSeed() Seed { return Seed{rand.Uint64(), rand.Uint64() | 1} }

// Mix returns a hash of x, all of whose bits are spread evenly: the two halves of a
// product of 128 bits.
func (s Seed) Mix(x uint64) uint64 {
	high, low := bits.Mul64(x^s.add, s.times)
	return high ^ low
}

// A Table maps nonzero keys to codes. It uses open addressing with linear probing
// and is at most half full. The zero value is an empty table.
type Table struct {
	slots []slot
	used  int
	shift uint // 64 - log2(len(slots))
	seed  Seed
}

type slot struct {
	key  uint64
	code int32
}

// New returns an empty table with room for n keys.
func New(n int) *Table {
	t := &Table{seed: NewSeed(), slots: make([]slot, max(64, 1<<bits.Len(uint(max(2*n-1, 0)))))}
	t.shift = uint(64 - bits.Len(uint(len(t.slots)-1)))
	return t
}

// Len returns the number of keys.
func (t *Table) Len() int { return t.used }

// Keys iterates over the keys in no particular order.
func (t *Table) Keys() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, s := range t.slots {
			if s.key != 0 && !yield(s.key) {
				return
			}
		}
	}
}

// Get returns the code of a key, or false if the table does not contain it.
func (t *Table) Get(key uint64) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := t.seed.Mix(key) >> (t.shift & 63); ; i++ {
		s := &t.slots[i&mask]
		if s.key == key {
			return s.code, true
		}
		if s.key == 0 {
			return 0, false
		}
	}
}

// Codes looks up keys[i], keys[i+1], ... and writes their codes to dst at the same
// indexes. It stops at the first key that is 0 or unknown and returns its index, or
// len(keys). Columns are often sorted, so the code of the previous key is reused.
func (t *Table) Codes(dst []int32, keys []uint64, i int) int {
	slots, shift, seed := t.slots, t.shift&63, t.seed
	if len(slots) == 0 {
		return i
	}
	mask := uint64(len(slots) - 1)
	var last uint64
	var code int32
	dst = dst[:len(keys)]
	for ; i < len(keys); i++ {
		key := keys[i]
		if key == 0 {
			return i
		}
		if key != last {
			at := seed.Mix(key) >> shift & mask
			for slots[at].key != key {
				if slots[at].key == 0 {
					return i
				}
				at = (at + 1) & mask
			}
			last, code = key, slots[at].code
		}
		dst[i] = code
	}
	return i
}

// Find writes the codes of keys to dst, and absent for keys that are 0 or unknown. The
// places of some keys are loaded before the first of them is compared, so that the time is
// not that of one access to memory after the other.
func (t *Table) Find(dst []int32, keys []uint64, absent int32) {
	if len(t.slots) == 0 {
		for i := range dst {
			dst[i] = absent
		}
		return
	}
	slots, shift, seed := t.slots, t.shift&63, t.seed
	mask := uint64(len(slots) - 1)
	var at [64]uint64
	for len(keys) > 0 {
		n := min(len(keys), len(at))
		loaded := uint64(0)
		for i, key := range keys[:n] {
			at[i&63] = seed.Mix(key) >> shift & mask
			loaded |= slots[at[i&63]].key
		}
		if loaded == 0 { // none of them is in the table
			for i := range n {
				dst[i] = absent
			}
			dst, keys = dst[n:], keys[n:]
			continue
		}
		for i, key := range keys[:n] {
			code := absent
			for place := at[i&63]; key != 0; place = (place + 1) & mask {
				s := &slots[place]
				if s.key == key {
					code = s.code
					break
				}
				if s.key == 0 {
					break
				}
			}
			dst[i] = code
		}
		dst, keys = dst[n:], keys[n:]
	}
}

// Put adds a nonzero key that the table does not contain yet.
func (t *Table) Put(key uint64, code int32) {
	if 2*(t.used+1) > len(t.slots) {
		old := t.slots
		if len(old) == 0 {
			t.seed = NewSeed()
		}
		t.slots = make([]slot, max(64, 2*len(old)))
		t.shift = uint(64 - bits.Len(uint(len(t.slots)-1)))
		for _, s := range old {
			if s.key != 0 {
				t.place(s)
			}
		}
	}
	t.place(slot{key, code})
	t.used++
}

// Fill puts n nonzero keys with the codes 0 to n-1 into an empty table of [New], and reports whether all are different. Each
// of the threads looks through all keys for those of its range of places.
func (t *Table) Fill(threads, n int, key func(i int) uint64) bool {
	if 2*n > len(t.slots) {
		panic("hashtable: no room")
	}
	threads = max(1, min(threads, n/leastFill))
	keys := make([]uint64, n)
	parallel.Blocks(threads, n, func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = key(i)
		}
	})
	beyond := make([][]int32, threads) // by thread: codes whose place is not in its range
	var equal atomic.Bool
	put := func(code int32, at, end uint64) (found bool) {
		for ; at < end; at++ {
			switch s := &t.slots[at]; s.key {
			case 0:
				*s = slot{keys[code], code}
				return true
			case keys[code]:
				equal.Store(true)
				return true
			}
		}
		return false
	}
	parallel.Ranges(threads, len(t.slots), func(thread, first, end int) {
		for i, k := range keys {
			if at := t.seed.Mix(k) >> (t.shift & 63); at >= uint64(first) && at < uint64(end) && !put(int32(i), at, uint64(end)) {
				beyond[thread] = append(beyond[thread], int32(i))
			}
		}
	})
	for _, codes := range beyond {
		for _, code := range codes {
			if !put(code, t.seed.Mix(keys[code])>>(t.shift&63), uint64(len(t.slots))) {
				put(code, 0, uint64(len(t.slots)))
			}
		}
	}
	t.used = n
	return !equal.Load()
}

// leastFill is the least number of keys of a thread of [Table.Fill].
const leastFill = 1 << 13

func (t *Table) place(s slot) {
	mask := uint64(len(t.slots) - 1)
	i := t.seed.Mix(s.key) >> (t.shift & 63)
	for t.slots[i&mask].key != 0 {
		i++
	}
	t.slots[i&mask] = s
}
