package dataset

import "math"

// typedRows is the fieldset of a typed batch. It is one worker's own.
type typedRows struct {
	*typedBatch
	delimiter byte
	cursors   []cursor // by column: where the last row asked for lies
	text      []byte
	out       []byte
	row       []int32 // 0, 1, 2, ...
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

// eachSegment calls f for the segments of column c with the rows in keep: from and
// to are their places in keep, rows their places in the segment. It stops where f
// returns false.
func (r *typedRows) eachSegment(c int, keep []int32, f func(s *segment, from, to int, rows []int32) bool) {
	for len(r.row) < r.n {
		r.row = append(r.row, int32(len(r.row)))
	}
	from, before := 0, 0
	all := len(keep) == r.n
	var local []int32
	for i := range r.columns[c] {
		s := &r.columns[c][i]
		to := from
		rows := r.row[:s.n]
		if all {
			to += s.n
		} else {
			local = local[:0]
			for ; to < len(keep) && int(keep[to]) < before+s.n; to++ {
				local = append(local, keep[to]-int32(before))
			}
			rows = local
		}
		if to > from && !f(s, from, to, rows) {
			return
		}
		from, before = to, before+s.n
	}
}

func (r *typedRows) numbers(dst []float32, c int, keep []int32) (good, missing int, kind numberKind) {
	good, kind = len(keep), isNumber
	r.eachSegment(c, keep, func(s *segment, from, to int, rows []int32) bool {
		if s.plainNumbers(dst[from:to], rows) {
			return true
		}
		for j, row := range rows {
			v, is := s.number(int(row))
			switch is {
			case isMissing:
				missing++
				v = float32(math.NaN())
			case isText, isInfinite, isNaN:
				good, kind = from+j, is
				return false
			}
			dst[from+j] = v
		}
		return true
	})
	return good, missing, kind
}

// plainNumbers reads a segment whose values are all numbers, in the quickest way,
// and reports whether it is one.
func (s *segment) plainNumbers(dst []float32, rows []int32) bool {
	switch {
	case s.valid != nil || s.form.kind > formBool && s.index == nil:
		return false
	case s.index != nil:
		numbers, kinds := s.dict.asNumbers()
		for j, row := range rows {
			k := s.index[row]
			if k < 0 || kinds[k] != isNumber {
				return false
			}
			dst[j] = numbers[k]
		}
	case s.i32 != nil:
		for j, row := range rows {
			dst[j] = float32(s.i32[row])
		}
	case s.i64 != nil && s.form.kind == formInteger:
		for j, row := range rows {
			dst[j] = float32(s.i64[row])
		}
	default:
		return false
	}
	return true
}
