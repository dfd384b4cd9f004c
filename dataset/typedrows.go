package dataset

import "math"

// typedRows is the fieldset of a typed batch. It is one worker's own.
type typedRows struct {
	*typedBatch
	delimiter byte
	cursors   []cursor // by column: where the last row asked for lies
	text      []byte
	out       []byte
	local     []int32
}

// cursor is a segment of a column and the rows before it.
type cursor struct{ segment, before int }

func (r *typedRows) reset(b *typedBatch, delimiter byte) {
	r.typedBatch, r.delimiter = b, delimiter
	r.cursors = sized(r.cursors, len(b.columns))
	clear(r.cursors)
}

func (r *typedRows) len() int { return r.n }

func (r *typedRows) line(i int) int { return i }

// at returns the segment that holds row i of column c, and its place there.
func (r *typedRows) at(i, c int) (*segment, int) {
	segments, at := r.columns[c], &r.cursors[c]
	if i < at.before {
		*at = cursor{}
	}
	for i >= at.before+segments[at.segment].n {
		at.before += segments[at.segment].n
		at.segment++
	}
	return &segments[at.segment], i - at.before
}

func (r *typedRows) field(i, c int) []byte {
	s, k := r.at(i, c)
	r.text = s.appendText(r.text[:0], k)
	return trim(r.text)
}

func (r *typedRows) rawLine(i int) []byte {
	r.out = r.out[:0]
	for c := range r.columns {
		if c > 0 {
			r.out = append(r.out, r.delimiter)
		}
		s, k := r.at(i, c)
		r.text = s.appendText(r.text[:0], k)
		r.out = appendQuoted(r.out, r.text, r.delimiter)
	}
	return r.out
}

// eachSegment calls f for the values of column c in the rows in keep, a segment at a
// time: those of s stand in the rows keep[from], keep[from+1], ... It stops where f
// returns false.
func (r *typedRows) eachSegment(c int, keep []int32, f func(s *segment, from int) bool) {
	from, before := 0, 0
	for i := range r.columns[c] {
		s := &r.columns[c][i]
		n := s.n
		if len(keep) < r.n {
			to := from
			r.local = r.local[:0]
			for ; to < len(keep) && int(keep[to]) < before+n; to++ {
				r.local = append(r.local, keep[to]-int32(before))
			}
			picked := s.pick(r.local)
			s = &picked
		}
		if s.n > 0 && !f(s, from) {
			return
		}
		from, before = from+s.n, before+n
	}
}

func (r *typedRows) numbers(dst []float32, c int, keep []int32) (good, missing int, kind numberKind) {
	good, kind = len(keep), isNumber
	r.eachSegment(c, keep, func(s *segment, from int) bool {
		if s.plainNumbers(dst[from:][:s.n]) {
			return true
		}
		for i := range s.n {
			v, is := s.number(i)
			switch is {
			case isMissing:
				missing++
				v = float32(math.NaN())
			case isText, isInfinite, isNaN:
				good, kind = from+i, is
				return false
			}
			dst[from+i] = v
		}
		return true
	})
	return good, missing, kind
}

// plainNumbers reads a segment whose values are all numbers, in the quickest way,
// and reports whether it is one.
func (s *segment) plainNumbers(dst []float32) bool {
	switch {
	case s.valid != nil || s.form.kind > formBool:
		return false
	case s.index != nil:
		numbers, _ := s.dict.asNumbers()
		if !s.dict.allNumbers {
			return false
		}
		for i, at := range s.index {
			if at < 0 {
				return false
			}
			dst[i] = numbers[at]
		}
	case s.i32 != nil:
		for i, v := range s.i32 {
			dst[i] = float32(v)
		}
	case s.i64 != nil && s.form.kind == formInteger:
		for i, v := range s.i64 {
			dst[i] = float32(v)
		}
	default:
		return false
	}
	return true
}
