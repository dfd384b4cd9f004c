package dataset

import (
	"encoding/binary"
	"time"
)

// Codes that are no ids.
const (
	unknown = -1 // the id is not in the dictionary
	refuse  = -2 // the row is in error
)

// missFunc gives the code of an id that a dictionary lacks, seen in row i of the
// chunk: a new one, unknown or refuse. An empty id is always a miss.
type missFunc func(id []byte, i int) int32

// encodeColumn writes the codes of the ids in column c to dst, one for each row
// in keep. It returns the index in keep of the first refused row, or len(keep).
//
// An id of up to eight bytes is looked up as one word, and not at all where it is
// the same as in the row before.
func encodeColumn(dst []int32, r *rows, c int, keep []int32, d *Dict, miss missFunc) int {
	text := r.text[:len(r.text)+padding]
	columns := uint(r.columns)
	var last uint64
	var lastCode int32
	for i, row := range keep {
		k := uint(row)*columns + uint(c)
		start, end := r.ends[k]+1, r.ends[k+1]
		n := end - start
		if n-1 < 8 {
			word := binary.LittleEndian.Uint64(text[start:]) & (^uint64(0) >> (64 - 8*n))
			if byte(word) > ' ' && word>>(8*n-8) > ' ' {
				if word == last {
					dst[i] = lastCode
					continue
				}
				code, ok := d.short.get(word)
				if !ok {
					if code = miss(text[start:end], int(row)); code == refuse {
						return i
					}
				}
				last, lastCode = word, code
				dst[i] = code
				continue
			}
		}
		id := trim(text[start:end])
		code, ok := int32(0), false
		if len(id) > 0 {
			code, ok = d.Code(id)
		}
		if !ok {
			if code = miss(id, int(row)); code == refuse {
				return i
			}
		}
		dst[i] = code
	}
	return len(keep)
}

// modeEncoder turns the columns of one mode into codes. It is one worker's own.
type modeEncoder struct {
	mode Mode
	dict *Dict // of the mode
	miss missFunc

	// Several columns: ids of the parts, and codes of tuples of parts. The last
	// table gives the mode's codes.
	parts     []*Dict
	pairs     []table
	partCodes [2][]int32

	// A function: codes of the raw values seen, forgotten when they are many.
	function func([]byte, time.Time) []byte
	seen     *Dict
	seenCode []int32

	id []byte // under construction
}

// mostSeen bounds the raw values a function's results are kept for.
const mostSeen = 1 << 16

func newModeEncoder(m Mode, dict *Dict, miss missFunc) *modeEncoder {
	e := &modeEncoder{mode: m, dict: dict, miss: miss}
	if m.Func != "" {
		e.function = calendarFunctions()[m.Func]
		e.seen = emptyDict()
	} else if len(m.Columns) > 1 {
		for range m.Columns {
			e.parts = append(e.parts, emptyDict())
		}
		e.pairs = make([]table, len(m.Columns)-1)
	}
	return e
}

// encode writes the mode's codes of the rows in keep to dst and returns the index
// of the first refused row, or len(keep), with what is wrong with it: the column
// and whether its value is empty (or else is no moment in time).
func (e *modeEncoder) encode(dst []int32, r *rows, at []int, keep []int32) (int, idProblem) {
	switch {
	case e.function != nil:
		return e.encodeFunction(dst, r, at[0], keep)
	case len(at) > 1:
		return e.encodeJoined(dst, r, at, keep)
	}
	return encodeColumn(dst, r, at[0], keep, e.dict, e.miss), idProblem{}
}

// idProblem says which of a mode's columns is wrong and how.
type idProblem struct {
	part      int
	notMoment bool
}

// encodeJoined codes each column, then tuples from the left: (a, b), ((a, b), c).
func (e *modeEncoder) encodeJoined(dst []int32, r *rows, at []int, keep []int32) (int, idProblem) {
	var problem idProblem
	left := resize(&e.partCodes[0], len(keep))
	right := resize(&e.partCodes[1], len(keep))
	for p, c := range at {
		into := right
		if p == 0 {
			into = left
		}
		dict := e.parts[p]
		good := encodeColumn(into, r, c, keep, dict, func(id []byte, i int) int32 {
			if len(id) == 0 {
				// The mode decides: refuse, or unknown, which is then a part's code too.
				return e.miss(nil, i)
			}
			return dict.add(id)
		})
		if good < len(keep) {
			keep = keep[:good]
			problem = idProblem{part: p}
		}
		if p == 0 {
			continue
		}
		pairs := &e.pairs[p-1]
		isLast := p == len(at)-1
		var last uint64
		var lastCode int32
		for i, row := range keep {
			key := uint64(uint32(left[i]+2))<<32 | uint64(uint32(right[i]+2)) // not 0
			if key != last {
				code, ok := pairs.get(key)
				if !ok {
					code = int32(pairs.used)
					if isLast {
						code = e.resolve(e.join(r, int(row), at), int(row))
					}
					pairs.put(key, code)
				}
				last, lastCode = key, code
			}
			if isLast {
				dst[i] = lastCode
			} else {
				left[i] = lastCode
			}
		}
	}
	return len(keep), problem
}

// resolve looks an id of the mode up.
func (e *modeEncoder) resolve(id []byte, row int) int32 {
	if code, ok := e.dict.Code(id); ok {
		return code
	}
	return e.miss(id, row)
}

// join returns the id of a row, valid until the next call. A row with an empty
// part has none.
func (e *modeEncoder) join(r *rows, row int, at []int) []byte {
	e.id = e.id[:0]
	for p, c := range at {
		part := r.field(row, c)
		if len(part) == 0 {
			return nil
		}
		if p > 0 {
			e.id = append(e.id, '-')
		}
		e.id = append(e.id, part...)
	}
	return e.id
}

func (e *modeEncoder) encodeFunction(dst []int32, r *rows, c int, keep []int32) (int, idProblem) {
	for i, row := range keep {
		raw := r.field(int(row), c)
		seen, ok := e.seen.Code(raw)
		if ok {
			dst[i] = e.seenCode[seen]
			continue
		}
		var code int32
		if len(raw) == 0 {
			if code = e.miss(nil, int(row)); code == refuse {
				return i, idProblem{}
			}
		} else {
			t, ok := parseMoment(raw)
			if !ok {
				return i, idProblem{notMoment: true}
			}
			e.id = e.function(e.id[:0], t)
			code = e.resolve(e.id, int(row))
		}
		if e.seen.Len() >= mostSeen {
			e.seen, e.seenCode = emptyDict(), e.seenCode[:0]
		}
		e.seen.add(raw)
		e.seenCode = append(e.seenCode, code)
		dst[i] = code
	}
	return len(keep), idProblem{}
}

// text returns the id of a row as it would stand in the dictionary.
func (e *modeEncoder) text(r *rows, row int, at []int) string {
	if e.function == nil {
		return string(e.join(r, row, at))
	}
	t, ok := parseMoment(r.field(row, at[0]))
	if !ok {
		return ""
	}
	return string(e.function(nil, t))
}

// report describes a refused row.
func (e *modeEncoder) report(r *rows, row int, at []int, problem idProblem) *InputError {
	err := &InputError{Line: r.line(row), Column: e.mode.Columns[problem.part]}
	if problem.notMoment {
		err.Value = string(r.field(row, at[0]))
		err.Problem = "this is not " + moment + ", which " + e.mode.source() + " needs"
		err.Remedy = momentRemedy
		return err
	}
	err.Problem = "the id is empty, so the row names no cell"
	err.Remedy = "fill it in or remove the row"
	return err
}

// resize returns *s with length n; its content is of no use.
func resize[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n+n/8)
	}
	return (*s)[:n]
}

// numbers reads column c of the rows in keep. It returns the index of the first
// row whose field is no number (or is infinite, or missing where that is not
// allowed), or len(keep). Missing values are NaN and are counted.
func numbers(dst []float32, r *rows, c int, keep []int32) (good, missing int, kind numberKind) {
	text := r.text[:len(r.text)+padding]
	columns := uint(r.columns)
	for i, row := range keep {
		k := uint(row)*columns + uint(c)
		start, end := r.ends[k]+1, r.ends[k+1]
		n := end - start
		if n-1 < 8 {
			if v, ok := parseDigits(binary.LittleEndian.Uint64(text[start:]), uint(n)); ok {
				dst[i] = float32(v)
				continue
			}
		}
		v, kind := parseNumber(trim(text[start:end]))
		switch kind {
		case isMissing:
			missing++
		case isText, isInfinite:
			return i, missing, kind
		}
		dst[i] = v
	}
	return len(keep), missing, isNumber
}
