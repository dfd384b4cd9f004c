package dataset

import (
	"encoding/binary"
	"math"
)

// typedCoder gives a mode's codes of typed columns. A value is made into an id once
// and remembered: by its place in a dictionary, by its bits or by its text.
type typedCoder struct {
	values []valueCoder  // one a column
	basis  []*dictionary // of a mode of several columns: that local codes are places in, or nil
	locals [][]int32
	keys   []uint64
	tuples []table // of two columns, of these and a third, ...
	next   []int32
	pairs  []int32 // of two columns with small dictionaries, in place of tuples
}

// mostPairs bounds the pairs of values that are remembered by their place.
const mostPairs = 1 << 16

// codes of a mode of several columns go through local codes of each column's
// values, which are places in its dictionary where it has one, and of tuples of
// those.
func (r *typedRows) codes(e *modeEncoder, dst []int32, at []int, keep []int32) (good int, problem idProblem) {
	e.problem = idProblem{}
	t := &e.typed
	if t.values == nil || t.size() > mostSeen && len(at) > 1 {
		*t = typedCoder{values: make([]valueCoder, len(at)), basis: make([]*dictionary, len(at)), locals: make([][]int32, len(at)),
			tuples: make([]table, len(at)), next: make([]int32, len(at))}
	}
	derive := func(k int) int32 { return e.derive(r, int(keep[k]), at) }
	if len(at) == 1 {
		var ids *Dict
		if e.function == nil {
			ids = e.dict
		}
		good = t.values[0].codes(dst, r, at[0], keep, ids, derive)
		return good, e.problem
	}
	changed := false
	for p, c := range at {
		t.locals[p] = sized(t.locals[p], len(keep))
		basis := r.basis(c)
		changed = changed || t.basis[p] != basis
		t.basis[p] = basis
		v := &t.values[p]
		if basis != nil {
			r.eachSegment(c, keep, func(s *segment, from int) bool { copy(t.locals[p][from:], s.index); return true })
			continue
		}
		v.codes(t.locals[p], r, c, keep, nil, func(int) int32 { v.next++; return v.next - 1 })
	}
	if changed {
		clear(t.tuples)
		t.pairs = nil
	}
	if len(at) == 2 && t.basis[0] != nil && t.basis[1] != nil && t.basis[0].values.n*t.basis[1].values.n <= mostPairs {
		return t.codesOfPairs(dst, derive), e.problem
	}
	t.keys = sized(t.keys, len(keep))
	for p := 1; p < len(at); p++ {
		left, right := t.locals[p-1], t.locals[p]
		if p > 1 {
			left = dst
		}
		for k := range t.keys {
			t.keys[k] = uint64(uint32(left[k]))<<32 + uint64(uint32(right[k])) + 1 // 0 where all are null
		}
		resolve := derive
		if p < len(at)-1 {
			resolve = func(int) int32 { t.next[p]++; return t.next[p] - 1 }
		}
		good = lookup(dst, t.keys, &t.tuples[p], resolve)
	}
	return good, e.problem
}

// basis returns the one dictionary that the values of column c have, or nil.
func (r *typedRows) basis(c int) *dictionary {
	first := r.columns[c][0].dict
	for i := range r.columns[c] {
		if r.columns[c][i].dict != first {
			return nil
		}
	}
	return first
}

func (t *typedCoder) codesOfPairs(dst []int32, resolve func(k int) int32) int {
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
		if code == refuse {
			return k
		}
		dst[k] = code
		if !null {
			t.pairs[i*width+j] = code
		}
	}
	return len(left)
}

// size is the number of values and tuples that are remembered.
func (t *typedCoder) size() int {
	n := 0
	for p := range t.values {
		n += t.values[p].keys.used + int(t.values[p].next) + t.tuples[p].used
	}
	return n
}

// valueCoder gives the codes of the values of one column.
type valueCoder struct {
	keys table // of integers and floats, by their bits
	of   segmentKind
	dict *dictionary
	seen []int32 // code of each entry of dict, or unseen

	texts     *Dict // of texts, where they are no ids themselves
	textCodes []int32

	next  int32
	words []uint64
}

const unseen = -3

// segmentKind tells segments apart whose equal bits are different values.
type segmentKind struct {
	width int8
	form  form
}

func (s *segment) kind() segmentKind {
	switch {
	case s.i32 != nil, s.i64 != nil:
		return segmentKind{1, s.form}
	case s.f32 != nil:
		return segmentKind{2, s.form}
	}
	return segmentKind{3, s.form}
}

// codes writes codes of column c and returns the index of the first refused row, or
// len(keep). resolve gives the code of the value in row keep[k], the first time it
// is met. Where texts are ids, ids has their codes.
func (v *valueCoder) codes(dst []int32, r *typedRows, c int, keep []int32, ids *Dict, resolve func(k int) int32) int {
	good := len(keep)
	r.eachSegment(c, keep, func(s *segment, from int) bool {
		part := dst[from:][:s.n]
		shifted := func(k int) int32 { return resolve(from + k) }
		n := 0
		switch {
		case s.index != nil:
			n = v.fromIndex(part, s, shifted)
		case s.offsets != nil:
			n = v.fromText(part, s, ids, shifted)
		default:
			n = v.fromBits(part, s, shifted)
		}
		if n < s.n {
			good = from + n
		}
		return n == s.n
	})
	return good
}

func (v *valueCoder) fromIndex(dst []int32, s *segment, resolve func(k int) int32) int {
	if v.dict != s.dict {
		v.dict = s.dict
		v.seen = sized(v.seen, s.dict.values.n)
		for i := range v.seen {
			v.seen[i] = unseen
		}
	}
	seen := v.seen
	dst = dst[:len(s.index)]
	for k, at := range s.index {
		if at >= 0 && seen[at] != unseen {
			dst[k] = seen[at]
			continue
		}
		code := resolve(k)
		if code == refuse {
			return k
		}
		dst[k] = code
		if at >= 0 {
			seen[at] = code
		}
	}
	return s.n
}

func (v *valueCoder) fromBits(dst []int32, s *segment, resolve func(k int) int32) int {
	if kind := s.kind(); v.of != kind || v.keys.used > mostSeen {
		v.of, v.keys = kind, table{}
	}
	// A key of 0 is not remembered: it stands for null and for one rare value.
	v.words = sized(v.words, s.n)
	switch {
	case s.i32 != nil:
		for k, value := range s.i32 {
			v.words[k] = uint64(value) + 1
		}
	case s.i64 != nil:
		for k, value := range s.i64 {
			v.words[k] = uint64(value) + 1
		}
	case s.f32 != nil:
		for k, value := range s.f32 {
			v.words[k] = uint64(math.Float32bits(value)) + 1
		}
	default:
		for k, value := range s.f64 {
			v.words[k] = math.Float64bits(value) + 1
		}
	}
	for k, valid := range s.valid {
		if !valid {
			v.words[k] = 0
		}
	}
	return lookup(dst, v.words, &v.keys, resolve)
}

func (v *valueCoder) fromText(dst []int32, s *segment, ids *Dict, resolve func(k int) int32) int {
	remember := ids == nil
	if remember {
		if v.texts == nil || v.texts.Len() > mostSeen {
			v.texts, v.textCodes = emptyDict(), v.textCodes[:0]
		}
		ids = v.texts
	}
	v.words = sized(v.words, s.n)
	for k := range v.words {
		v.words[k] = textWord(s.data, s.offsets[k], s.offsets[k+1])
	}
	for k, valid := range s.valid {
		if !valid {
			v.words[k] = 0
		}
	}
	for k := 0; k < s.n; k++ {
		from := k
		k = ids.short.codes(dst, v.words, k)
		if remember {
			for ; from < k; from++ {
				dst[from] = v.textCodes[dst[from]]
			}
		}
		if k == s.n {
			break
		}
		if remember && v.words[k] == 0 && !s.null(k) {
			if at, ok := ids.Code(s.text(k)); ok { // a long text
				dst[k] = v.textCodes[at]
				continue
			}
		}
		code := resolve(k)
		if code == refuse {
			return k
		}
		dst[k] = code
		if remember && !s.null(k) && len(s.text(k)) > 0 {
			ids.add(s.text(k))
			v.textCodes = append(v.textCodes, code)
		}
	}
	return s.n
}

// textWord loads a text of 1 to 8 bytes, without white space at its ends, as a
// little-endian word, and returns 0 for any other.
func textWord(data []byte, start, end uint32) uint64 {
	bits := 8 * uint(end-start)
	if bits-8 > 56 {
		return 0
	}
	var word uint64
	if uint(start)+8 <= uint(len(data)) {
		word = binary.LittleEndian.Uint64(data[start:]) & (^uint64(0) >> ((64 - bits) & 63))
	} else {
		var room [8]byte
		copy(room[:], data[start:end])
		word = binary.LittleEndian.Uint64(room[:])
	}
	if byte(word) <= ' ' || word>>((bits-8)&63) <= ' ' {
		return 0
	}
	return word
}

// lookup writes the codes of keys; those that are not known are resolved and, but
// for the key 0, remembered. It returns the index of the first refused, or their
// number.
func lookup(dst []int32, keys []uint64, t *table, resolve func(k int) int32) int {
	for i := 0; i < len(keys); i++ {
		if i = t.codes(dst, keys, i); i == len(keys) {
			break
		}
		code := resolve(i)
		if code == refuse {
			return i
		}
		dst[i] = code
		if keys[i] != 0 {
			t.put(keys[i], code)
		}
	}
	return len(keys)
}
