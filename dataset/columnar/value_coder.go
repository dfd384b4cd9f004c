package columnar

import (
	"encoding/binary"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
	"github.com/kernel-fried-tensor/kft/internal/hashtable"
)

// valueCoder makes the codes of the values of one column.
type valueCoder struct {
	keys hashtable.Table // of integers and floats, by their bits
	of   segmentKind
	dict *dictionary
	seen []int32 // code of each entry of dict, or unseen

	texts     *dataset.Dict // of texts, if they are not ids themselves
	textCodes []int32

	next  int32
	words []uint64
}

const unseen = -3

// segmentKind distinguishes segments in which equal bits are different values.
type segmentKind struct {
	width int8
	form  form
}

func (s *Segment) kind() segmentKind {
	switch {
	case s.i32 != nil, s.i64 != nil:
		return segmentKind{1, s.form}
	case s.f32 != nil:
		return segmentKind{2, s.form}
	}
	return segmentKind{3, s.form}
}

// codes writes the codes of column c. It returns the index of the first refused row, or
// len(keep). The function resolve returns the code of the value in row keep[k] when
// it occurs for the first time. If texts are ids, ids contains their codes.
func (v *valueCoder) codes(dst []int32, r *Rows, c int, keep []int32, ids *dataset.Dict, resolve func(k int) int32) int {
	good := len(keep)
	r.eachSegment(c, keep, func(s *Segment, from int) bool {
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

func (v *valueCoder) fromIndex(dst []int32, s *Segment, resolve func(k int) int32) int {
	if v.dict != s.dict {
		v.dict = s.dict
		v.seen = scratch.Sized(v.seen, s.dict.values.n)
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
		if code == modeid.Refused {
			return k
		}
		dst[k] = code
		if at >= 0 {
			seen[at] = code
		}
	}
	return s.n
}

func (v *valueCoder) fromBits(dst []int32, s *Segment, resolve func(k int) int32) int {
	if kind := s.kind(); v.of != kind || v.keys.Len() > mostSeen {
		v.of, v.keys = kind, hashtable.Table{}
	}
	// A key of 0 is not remembered. It means null or one rare value.
	v.words = scratch.Sized(v.words, s.n)
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

func (v *valueCoder) fromText(dst []int32, s *Segment, ids *dataset.Dict, resolve func(k int) int32) int {
	remember := ids == nil
	if remember {
		if v.texts == nil || v.texts.Len() > mostSeen {
			v.texts, v.textCodes = dataset.NewDict(nil), v.textCodes[:0]
		}
		ids = v.texts
	}
	v.words = scratch.Sized(v.words, s.n)
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
		k = ids.ShortCodes(dst, v.words, k)
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
		if code == modeid.Refused {
			return k
		}
		dst[k] = code
		if remember && !s.null(k) && len(s.text(k)) > 0 {
			ids.Add(string(s.text(k)))
			v.textCodes = append(v.textCodes, code)
		}
	}
	return s.n
}

// textWord loads a text of 1 to 8 bytes without white space at its ends as a
// little-endian word. It returns 0 for other texts.
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

// lookup writes the codes of keys. Unknown keys are resolved and, except for 0,
// remembered. It returns the index of the first refused key, or their number.
func lookup(dst []int32, keys []uint64, t *hashtable.Table, resolve func(k int) int32) int {
	for i := 0; i < len(keys); i++ {
		if i = t.Codes(dst, keys, i); i == len(keys) {
			break
		}
		code := resolve(i)
		if code == modeid.Refused {
			return i
		}
		dst[i] = code
		if keys[i] != 0 {
			t.Put(keys[i], code)
		}
	}
	return len(keys)
}
