package columnar

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
	"github.com/kernel-fried-tensor/kft/internal/hashtable"
)

// An Encoder makes the codes of one mode from typed columns. A value is made into an
// id once and remembered: by its index in a dictionary, by its bits or by its text. It
// is not safe for concurrent use.
type Encoder struct {
	ids  *modeid.Encoder
	seen codeMemory
}

// codeMemory holds the codes of the values and tuples seen so far.
type codeMemory struct {
	values []valueCoder  // one per column
	basis  []*dictionary // for several columns: the dictionary whose indexes are the local codes, or nil
	locals [][]int32
	keys   []uint64
	tuples []hashtable.Table // of two columns, of these and a third, ...
	next   []int32
	pairs  []int32 // for two columns with small dictionaries, instead of tuples
}

// NewEncoder returns an encoder of the mode of ids.
func NewEncoder(ids *modeid.Encoder) *Encoder { return &Encoder{ids: ids} }

// mostSeen bounds, roughly, the number of values whose codes are kept.
const mostSeen = 1 << 16

// mostPairs bounds the pairs of values that are remembered by their indexes.
const mostPairs = 1 << 16

// Encode writes the mode's codes of the rows in keep to dst. The mode's columns are at
// the indexes at. It returns the index in keep of the first refused row and its
// problem, or len(keep).
//
// A mode of several columns first gives local codes to the values of each column,
// which are indexes into its dictionary if it has one, and then to tuples of them.
func (e *Encoder) Encode(dst []int32, r *Rows, at []int, keep []int32) (good int, problem modeid.Problem) {
	e.ids.Problem = modeid.Problem{}
	t := &e.seen
	if t.values == nil || t.size() > mostSeen && len(at) > 1 {
		*t = codeMemory{values: make([]valueCoder, len(at)), basis: make([]*dictionary, len(at)), locals: make([][]int32, len(at)),
			tuples: make([]hashtable.Table, len(at)), next: make([]int32, len(at))}
	}
	derive := func(k int) int32 { return e.ids.Derive(r, int(keep[k]), at) }
	if len(at) == 1 {
		var dict *dataset.Dict
		if e.ids.Plain() {
			dict = e.ids.Dict
		}
		good = t.values[0].codes(dst, r, at[0], keep, dict, derive)
		return good, e.ids.Problem
	}
	changed := false
	for p, c := range at {
		t.locals[p] = scratch.Sized(t.locals[p], len(keep))
		basis := r.basis(c)
		changed = changed || t.basis[p] != basis
		t.basis[p] = basis
		v := &t.values[p]
		if basis != nil {
			r.eachSegment(c, keep, func(s *Segment, from int) bool { copy(t.locals[p][from:], s.index); return true })
			continue
		}
		v.codes(t.locals[p], r, c, keep, nil, func(int) int32 { v.next++; return v.next - 1 })
	}
	if changed {
		clear(t.tuples)
		t.pairs = nil
	}
	if len(at) == 2 && t.basis[0] != nil && t.basis[1] != nil && t.basis[0].values.n*t.basis[1].values.n <= mostPairs {
		return t.codesOfPairs(dst, derive), e.ids.Problem
	}
	t.keys = scratch.Sized(t.keys, len(keep))
	for p := 1; p < len(at); p++ {
		left, right := t.locals[p-1], t.locals[p]
		if p > 1 {
			left = dst
		}
		for k := range t.keys {
			t.keys[k] = uint64(uint32(left[k]))<<32 + uint64(uint32(right[k])) + 1 // 0 if all are null
		}
		resolve := derive
		if p < len(at)-1 {
			resolve = func(int) int32 { t.next[p]++; return t.next[p] - 1 }
		}
		good = lookup(dst, t.keys, &t.tuples[p], resolve)
	}
	return good, e.ids.Problem
}

// basis returns the dictionary that all values of column c share, or nil.
func (r *Rows) basis(c int) *dictionary {
	first := r.columns[c][0].dict
	for i := range r.columns[c] {
		if r.columns[c][i].dict != first {
			return nil
		}
	}
	return first
}

func (t *codeMemory) codesOfPairs(dst []int32, resolve func(k int) int32) int {
	width := int32(t.basis[1].values.n)
	if t.pairs == nil {
		t.pairs = make([]int32, int32(t.basis[0].values.n)*width)
		for i := range t.pairs {
			t.pairs[i] = unseen
		}
	}
	left, right := t.locals[0], t.locals[1][:len(t.locals[0])]
	dst = dst[:len(left)]
	for k, i := range left {
		j := right[k]
		null := i|j < 0
		if !null {
			if code := t.pairs[i*width+j]; code != unseen {
				dst[k] = code
				continue
			}
		}
		code := resolve(k)
		if code == modeid.Refused {
			return k
		}
		dst[k] = code
		if !null {
			t.pairs[i*width+j] = code
		}
	}
	return len(left)
}

// size returns the number of values and tuples that are remembered.
func (t *codeMemory) size() int {
	n := 0
	for p := range t.values {
		n += t.values[p].keys.Len() + int(t.values[p].next) + t.tuples[p].Len()
	}
	return n
}
