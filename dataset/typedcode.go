package dataset

import (
	"encoding/binary"
	"math"
)

// typedCoder gives a mode's codes of typed columns. A value is made into an id once
// and remembered: by its place in a dictionary, by its bits or by its text.
type typedCoder struct {
	values []valueCoder // one a column
	locals [][]int32
	keys   []uint64
	tuples []table // of two columns, of these and a third, ...
	next   []int32
}

// codes of a mode of several columns go through local codes of each column's
// values, and of tuples of those.
func (r *typedRows) codes(e *modeEncoder, dst []int32, at []int, keep []int32) (good int, problem idProblem) {
	e.problem = idProblem{}
	t := &e.typed
	if t.values == nil {
		t.values = make([]valueCoder, len(at))
		t.locals = make([][]int32, len(at))
		t.tuples = make([]table, len(at))
		t.next = make([]int32, len(at))
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
	if t.size() > mostSeen {
		*t = typedCoder{}
		return r.codes(e, dst, at, keep)
	}
	for p, c := range at {
		t.locals[p] = sized(t.locals[p], len(keep))
		v := &t.values[p]
		v.codes(t.locals[p], r, c, keep, nil, func(int) int32 { v.next++; return v.next - 1 })
	}
	t.keys = sized(t.keys, len(keep))
	for p := 1; p < len(at); p++ {
		left, right := t.locals[p-1], t.locals[p]
		if p > 1 {
			left = dst
		}
		for k := range t.keys {
			t.keys[k] = uint64(left[k])<<32 | uint64(right[k]+1) // never 0
		}
		resolve := derive
		if p < len(at)-1 {
			resolve = func(int) int32 { t.next[p]++; return t.next[p] - 1 }
		}
		good = lookup(dst, t.keys, &t.tuples[p], resolve)
	}
	return good, e.problem
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
	r.eachSegment(c, keep, func(s *segment, from, to int, rows []int32) bool {
		part := dst[from:to]
		shifted := func(k int) int32 { return resolve(from + k) }
		n := 0
		switch {
		case s.index != nil:
			n = v.fromIndex(part, s, rows, shifted)
		case s.data != nil || s.offsets != nil:
			n = v.fromText(part, s, rows, ids, shifted)
		default:
			n = v.fromBits(part, s, rows, shifted)
		}
		if n < len(part) {
			good = from + n
		}
		return n == len(part)
	})
	return good
}

func (v *valueCoder) fromIndex(dst []int32, s *segment, rows []int32, resolve func(k int) int32) int {
	if v.dict != s.dict {
		v.dict = s.dict
		v.seen = sized(v.seen, s.dict.values.n)
		for i := range v.seen {
			v.seen[i] = unseen
		}
	}
	seen := v.seen
	for k, row := range rows {
		at := s.index[row]
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
	return len(rows)
}

func (v *valueCoder) fromBits(dst []int32, s *segment, rows []int32, resolve func(k int) int32) int {
	if kind := s.kind(); v.of != kind || v.keys.used > mostSeen {
		v.of, v.keys = kind, table{}
	}
	v.words = sized(v.words, len(rows))
	for k, row := range rows {
		// A key of 0 is not remembered: it stands for null and for one rare value.
		var key uint64
		switch {
		case s.valid != nil && !s.valid[row]:
		case s.i32 != nil:
			key = uint64(s.i32[row]) + 1
		case s.i64 != nil:
			key = uint64(s.i64[row]) + 1
		case s.f32 != nil:
			key = uint64(math.Float32bits(s.f32[row])) + 1
		default:
			key = math.Float64bits(s.f64[row]) + 1
		}
		v.words[k] = key
	}
	return lookup(dst, v.words, &v.keys, resolve)
}

func (v *valueCoder) fromText(dst []int32, s *segment, rows []int32, ids *Dict, resolve func(k int) int32) int {
	remember := ids == nil
	if remember {
		if v.texts == nil || v.texts.Len() > mostSeen {
			v.texts, v.textCodes = emptyDict(), v.textCodes[:0]
		}
		ids = v.texts
	}
	v.words = sized(v.words, len(rows))
	for k, row := range rows {
		v.words[k] = 0
		if s.valid == nil || s.valid[row] {
			v.words[k] = textWord(s.data, s.offsets[row], s.offsets[row+1])
		}
	}
	for k := 0; k < len(rows); k++ {
		from := k
		k = ids.short.codes(dst, v.words, k)
		if remember {
			for ; from < k; from++ {
				dst[from] = v.textCodes[dst[from]]
			}
		}
		if k == len(rows) {
			break
		}
		if row := rows[k]; remember && v.words[k] == 0 && !s.null(int(row)) {
			if at, ok := ids.Code(s.text(int(row))); ok { // a long text
				dst[k] = v.textCodes[at]
				continue
			}
		}
		code := resolve(k)
		if code == refuse {
			return k
		}
		dst[k] = code
		if row := rows[k]; remember && !s.null(int(row)) && len(s.text(int(row))) > 0 {
			ids.add(s.text(int(row)))
			v.textCodes = append(v.textCodes, code)
		}
	}
	return len(rows)
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
