package dataset

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
)

// Dict numbers the ids of one mode: id <-> code 0, 1, ... in the order of first
// appearance. Any number of goroutines may look ids up as long as none adds one. A
// lookup costs one probe of about 16 bytes and allocates nothing.
type Dict struct {
	ids   []string
	short hashtable.Table // ids of 1 to 8 bytes, keyed by the bytes themselves
	long  hashtable.Table // the others, keyed by a hash; chain links ids with equal hashes
	chain map[int32]int32
	seed  maphash.Seed
}

// NewDict returns the dictionary in which ids[c] has code c. It panics if an id is
// repeated.
func NewDict(ids []string) *Dict {
	d := &Dict{seed: maphash.MakeSeed()}
	for _, id := range ids {
		if _, ok := d.Code([]byte(id)); ok {
			panic(fmt.Sprintf("dataset: id %q is repeated", id))
		}
		d.Add(id)
	}
	return d
}

// Len returns the number of ids.
func (d *Dict) Len() int { return len(d.ids) }

// ID returns the id with a code in [0, Len()).
func (d *Dict) ID(code int32) string { return d.ids[code] }

// IDs returns the ids by code. The slice must not be changed.
func (d *Dict) IDs() []string { return d.ids }

// Code returns the code of an id, or false if the id is unknown.
func (d *Dict) Code(id []byte) (int32, bool) {
	if key := shortKey(id); key != 0 {
		return d.short.Get(key)
	}
	code, ok := d.long.Get(d.hash(id))
	for ok && d.ids[code] != string(id) {
		code, ok = d.chain[code]
	}
	return code, ok
}

// ShortCodes looks up ids of 1 to 8 bytes, given as little-endian words: words[i],
// words[i+1], ... It writes their codes to dst at the same indexes, stops at the
// first word that is 0 or unknown, and returns its index or len(words).
func (d *Dict) ShortCodes(dst []int32, words []uint64, i int) int {
	return d.short.Codes(dst, words, i)
}

// Add appends an unknown id and returns its code.
func (d *Dict) Add(text string) int32 {
	id := []byte(text)
	code := int32(len(d.ids))
	d.ids = append(d.ids, text)
	key := shortKey(id)
	if key != 0 {
		d.short.Put(key, code)
		return code
	}
	key = d.hash(id)
	if first, ok := d.long.Get(key); ok {
		if d.chain == nil {
			d.chain = map[int32]int32{}
		}
		for next, ok := d.chain[first]; ok; next, ok = d.chain[first] {
			first = next
		}
		d.chain[first] = code
		return code
	}
	d.long.Put(key, code)
	return code
}

func (d *Dict) hash(id []byte) uint64 { return maphash.Bytes(d.seed, id) | 1 } // never 0

// shortKey packs an id of 1 to 8 bytes whose last byte is not 0, so that the key
// determines the length. It returns 0 for other ids.
func shortKey(id []byte) uint64 {
	if len(id) == 0 || len(id) > 8 || id[len(id)-1] == 0 {
		return 0
	}
	var word [8]byte
	copy(word[:], id)
	return binary.LittleEndian.Uint64(word[:])
}
