package dataset

import "time"

// Codes that are no ids.
const (
	unknown = -1 // the id is not in the dictionary
	refuse  = -2 // the row is in error
)

// missFunc gives the code of an id that a dictionary lacks, seen in row i of the
// chunk: a new one, unknown or refuse. An empty id is always a miss.
type missFunc func(id []byte, i int) int32

// encodeColumns writes the codes, in d, of the text of columns first to last to
// dst, one for each row in keep. The text of several columns is that between the
// first's start and the last's end. It returns the index in keep of the first
// refused row, or len(keep).
func encodeColumns(dst []int32, r *rows, first, last int, keep []int32, d *Dict, miss missFunc) int {
	words := r.words(first, last, keep)
	for i := 0; i < len(words); {
		if i = d.short.codes(dst, words, i); i == len(words) {
			break
		}
		id := r.span(int(keep[i]), first, last)
		code, ok := int32(0), false
		if len(id) > 0 {
			code, ok = d.Code(id)
		}
		if !ok {
			if code = miss(id, int(keep[i])); code == refuse {
				return i
			}
		}
		dst[i] = code
		i++
	}
	return len(keep)
}

// modeEncoder turns the columns of one mode into codes. It is one worker's own.
type modeEncoder struct {
	mode Mode
	dict *Dict // of the mode
	miss missFunc

	// Of a mode that is not a plain column: the raw texts seen and the mode's code of
	// each, so that an id is made once for each text. Forgotten when they are many.
	seen     *Dict
	seenCode []int32
	function func([]byte, time.Time) []byte
	problem  idProblem

	id []byte // under construction

	typed typedCoder // of typed tables
}

// mostSeen bounds, roughly, the raw texts whose codes are kept.
const mostSeen = 1 << 16

func newModeEncoder(m Mode, dict *Dict, miss missFunc) *modeEncoder {
	e := &modeEncoder{mode: m, dict: dict, miss: miss, seen: emptyDict()}
	if m.Func != "" {
		e.function = calendarFunctions()[m.Func]
	}
	return e
}

// idProblem says which of a mode's columns is wrong and how.
type idProblem struct {
	part      int
	notMoment bool
}

// encode writes the mode's codes of the rows in keep to dst and returns the index
// of the first refused row, or len(keep), with what is wrong with it.
func (e *modeEncoder) encode(dst []int32, r *rows, at []int, keep []int32) (int, idProblem) {
	e.problem = idProblem{}
	switch {
	case e.function == nil && len(at) == 1:
		return encodeColumns(dst, r, at[0], at[0], keep, e.dict, e.miss), e.problem
	case len(at) > 1 && (r.slow || !adjacent(at)):
		// Unquoted fields may hold the separator, so the text between columns does not
		// tell tuples apart.
		for i, row := range keep {
			if dst[i] = e.derive(r, int(row), at); dst[i] == refuse {
				return i, e.problem
			}
		}
		return len(keep), e.problem
	}
	if e.seen.Len() > mostSeen {
		e.seen, e.seenCode = emptyDict(), e.seenCode[:0]
	}
	good := encodeColumns(dst, r, at[0], at[len(at)-1], keep, e.seen, func(raw []byte, row int) int32 {
		code := e.derive(r, row, at)
		if code == refuse {
			return refuse
		}
		e.seenCode = append(e.seenCode, code)
		return e.seen.add(raw)
	})
	for i, seen := range dst[:good] {
		dst[i] = e.seenCode[seen]
	}
	return good, e.problem
}

func adjacent(at []int) bool {
	for p := 1; p < len(at); p++ {
		if at[p] != at[p-1]+1 {
			return false
		}
	}
	return true
}

// derive makes the id of a row and returns its code.
func (e *modeEncoder) derive(r fieldset, row int, at []int) int32 {
	var ok bool
	if e.id, ok = e.appendID(e.id[:0], r, row, at); !ok && e.problem.notMoment {
		return refuse
	}
	if len(e.id) > 0 {
		if code, ok := e.dict.Code(e.id); ok {
			return code
		}
	}
	return e.miss(e.id, row)
}

// appendID makes the id of a row. Where a part is empty or the value is no moment
// in time there is none: e.problem tells which.
func (e *modeEncoder) appendID(dst []byte, r fieldset, row int, at []int) (id []byte, ok bool) {
	for p, c := range at {
		part := r.field(row, c)
		if len(part) == 0 {
			e.problem = idProblem{part: p}
			return dst[:0], false
		}
		if e.function != nil {
			t, ok := parseMoment(part)
			if !ok {
				e.problem = idProblem{notMoment: true}
				return dst[:0], false
			}
			return e.function(dst, t), true
		}
		if p > 0 {
			dst = append(dst, '-')
		}
		dst = append(dst, part...)
	}
	return dst, true
}

// report describes a refused row.
func (e *modeEncoder) report(r fieldset, row int, at []int, problem idProblem) *InputError {
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

// numbers reads column c of the rows in keep. It returns the index of the first
// row whose field is no number (or is infinite, or missing where that is not
// allowed), or len(keep). Missing values are NaN and are counted.
func (r *rows) numbers(dst []float32, c int, keep []int32) (good, missing int, kind numberKind) {
	words := r.words(c, c, keep)
	for i := 0; i < len(words); i++ {
		if i = parseIntegers(dst, words, i); i == len(words) {
			break
		}
		v, kind := parseNumber(r.field(int(keep[i]), c))
		switch kind {
		case isMissing:
			missing++
		case isText, isInfinite, isNaN:
			return i, missing, kind
		}
		dst[i] = v
	}
	return len(keep), missing, isNumber
}
