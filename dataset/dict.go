package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
)

// Dict numbers the ids of one mode: id <-> code 0, 1, ... in the order of first
// appearance. Once made it does not change, and any number of goroutines may
// look ids up. A lookup costs one probe of about 16 bytes and allocates nothing.
type Dict struct {
	ids   []string
	short table // ids of 1 to 8 bytes, keyed by the bytes themselves
	long  table // the others, keyed by a hash; chain holds ids with equal hashes
	chain map[int32]int32
	seed  maphash.Seed
}

func emptyDict() *Dict { return &Dict{seed: maphash.MakeSeed()} }

// NewDict returns the dictionary in which ids[c] has code c. It panics where an
// id is repeated.
func NewDict(ids []string) *Dict {
	d := emptyDict()
	for _, id := range ids {
		if _, ok := d.Code([]byte(id)); ok {
			panic(fmt.Sprintf("dataset: id %q is repeated", id))
		}
		d.add([]byte(id))
	}
	return d
}

// Len returns the number of ids.
func (d *Dict) Len() int { return len(d.ids) }

// ID returns the id with a code in [0, Len()).
func (d *Dict) ID(code int32) string { return d.ids[code] }

// IDs returns the ids by code. The slice must not be changed.
func (d *Dict) IDs() []string { return d.ids }

// Code returns the code of an id, or false where it is not known.
func (d *Dict) Code(id []byte) (int32, bool) {
	if key := shortKey(id); key != 0 {
		return d.short.get(key)
	}
	code, ok := d.long.get(d.hash(id))
	for ok && d.ids[code] != string(id) {
		code, ok = d.chain[code]
	}
	return code, ok
}

// add appends an id that is not known yet and returns its code.
func (d *Dict) add(id []byte) int32 { return d.addString(string(id)) }

func (d *Dict) addString(text string) int32 {
	id := []byte(text)
	code := int32(len(d.ids))
	d.ids = append(d.ids, text)
	key := shortKey(id)
	if key != 0 {
		d.short.put(key, code)
		return code
	}
	key = d.hash(id)
	if first, ok := d.long.get(key); ok {
		if d.chain == nil {
			d.chain = map[int32]int32{}
		}
		for next, ok := d.chain[first]; ok; next, ok = d.chain[first] {
			first = next
		}
		d.chain[first] = code
		return code
	}
	d.long.put(key, code)
	return code
}

func (d *Dict) hash(id []byte) uint64 { return maphash.Bytes(d.seed, id) | 1 } // never 0

// shortKey packs an id of 1 to 8 bytes. The last byte of such an id is never 0,
// so that the length is part of the key; other ids give 0.
func shortKey(id []byte) uint64 {
	if len(id) == 0 || len(id) > 8 || id[len(id)-1] == 0 {
		return 0
	}
	var word [8]byte
	copy(word[:], id)
	return binary.LittleEndian.Uint64(word[:])
}

// table maps keys other than 0 to codes: open addressing, linear probes, at most
// half full.
type table struct {
	slots []slot
	used  int
	shift uint // 64 - log2(len(slots))
}

type slot struct {
	key  uint64
	code int32
}

// golden is 2^64 divided by the golden ratio: the high bits of its multiples are
// spread evenly.
const golden = 0x9e3779b97f4a7c15

func (t *table) get(key uint64) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := home(key, t.shift); ; i++ {
		s := &t.slots[i&mask]
		if s.key == key {
			return s.code, true
		}
		if s.key == 0 {
			return 0, false
		}
	}
}

// codes looks keys up from index i on, until one is 0 or not known, and returns its
// index or len(keys). The code of the key before is kept at hand: columns are
// often sorted.
func (t *table) codes(dst []int32, keys []uint64, i int) int {
	slots, shift := t.slots, t.shift&63
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
			at := home(key, shift) & mask
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

// home folds the key before multiplying: ids that differ in their last bytes
// only would else differ in the product's high bits only by multiples.
func home(key uint64, shift uint) uint64 { return ((key ^ key>>29) * golden) >> (shift & 63) }

// put adds a key that is not there yet.
func (t *table) put(key uint64, code int32) {
	if 2*(t.used+1) > len(t.slots) {
		old := t.slots
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

func (t *table) place(s slot) {
	mask := uint64(len(t.slots) - 1)
	i := home(s.key, t.shift)
	for t.slots[i&mask].key != 0 {
		i++
	}
	t.slots[i&mask] = s
}
