package delimited

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// Numbers reads column c of the rows in keep. It returns the index in keep of the
// first row whose field is not a finite number, with its kind, or len(keep). Missing
// values are NaN and are counted.
func (r *Rows) Numbers(dst []float32, c int, keep []int32) (good, missing int, kind numeric.Kind) {
	parse := numeric.Parse
	if !r.NumberFormat.Plain() {
		parse = r.NumberFormat.Parse
	}
	words := r.words(c, c, keep)
	for i := 0; i < len(words); i++ {
		if i = parseIntegers(dst, words, i); i == len(words) {
			break
		}
		v, kind := parse(r.Field(int(keep[i]), c))
		switch kind {
		case numeric.Missing:
			missing++
		case numeric.Text, numeric.Infinite, numeric.NaN:
			return i, missing, kind
		}
		dst[i] = v
	}
	return len(keep), missing, numeric.Finite
}

// Texts copies the fields out, by columns. All fields of a block share one string.
func (r *Rows) Texts() [][]string {
	columns := make([][]string, r.columns)
	text := string(r.text)
	for c := range columns {
		column := make([]string, r.n)
		for i := range column {
			k := i*r.columns + c
			column[i] = fieldtext.Trim(text[r.ends[k]+1 : r.ends[k+1]])
		}
		columns[c] = column
	}
	return columns
}

// An Encoder makes the codes of one mode from text. It is not safe for concurrent use.
type Encoder struct {
	ids *modeid.Encoder

	// For a mode that is not a plain column: the raw texts and the mode's code of each,
	// so that an id is made once per text. They are dropped when they become too many.
	seen     *dataset.Dict
	seenCode []int32
}

// mostSeen bounds, roughly, the number of raw texts whose codes are kept.
const mostSeen = 1 << 16

// NewEncoder returns an encoder of the mode of ids.
func NewEncoder(ids *modeid.Encoder) *Encoder {
	return &Encoder{ids: ids, seen: dataset.NewDict(nil)}
}

// Encode writes the mode's codes of the rows in keep to dst. The mode's columns are at
// the indexes at. It returns the index in keep of the first refused row and its
// problem, or len(keep).
func (e *Encoder) Encode(dst []int32, r *Rows, at []int, keep []int32) (int, modeid.Problem) {
	ids := e.ids
	ids.Problem = modeid.Problem{}
	switch {
	case ids.Plain():
		return encodeColumns(dst, r, at[0], at[0], keep, ids.Dict, func(id []byte, _ int) int32 { return ids.Miss(id) }), ids.Problem
	case len(at) > 1 && (r.slow || !adjacent(at)):
		// Unquoted fields may contain the separator, so the text between the columns does
		// not determine the tuple.
		for i, row := range keep {
			if dst[i] = ids.Derive(r, int(row), at); dst[i] == modeid.Refused {
				return i, ids.Problem
			}
		}
		return len(keep), ids.Problem
	}
	if e.seen.Len() > mostSeen {
		e.seen, e.seenCode = dataset.NewDict(nil), e.seenCode[:0]
	}
	good := encodeColumns(dst, r, at[0], at[len(at)-1], keep, e.seen, func(raw []byte, row int) int32 {
		code := ids.Derive(r, row, at)
		if code == modeid.Refused {
			return code
		}
		e.seenCode = append(e.seenCode, code)
		return e.seen.Add(string(raw))
	})
	for i, seen := range dst[:good] {
		dst[i] = e.seenCode[seen]
	}
	return good, ids.Problem
}

func adjacent(at []int) bool {
	for p := 1; p < len(at); p++ {
		if at[p] != at[p-1]+1 {
			return false
		}
	}
	return true
}

// encodeColumns writes to dst the codes, in d, of the text of columns first to last,
// one per row in keep. The text of several columns reaches from the start of the first
// to the end of the last. The function miss returns the code of a text that d does not
// contain. The result is the index in keep of the first refused row, or len(keep).
func encodeColumns(dst []int32, r *Rows, first, last int, keep []int32, d *dataset.Dict, miss func(text []byte, row int) int32) int {
	words := r.words(first, last, keep)
	for i := 0; i < len(words); {
		if i = d.ShortCodes(dst, words, i); i == len(words) {
			break
		}
		id := r.span(int(keep[i]), first, last)
		code, ok := int32(0), false
		if len(id) > 0 {
			code, ok = d.Code(id)
		}
		if !ok {
			if code = miss(id, int(keep[i])); code == modeid.Refused {
				return i
			}
		}
		dst[i] = code
		i++
	}
	return len(keep)
}
