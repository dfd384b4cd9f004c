package columnar

import (
	"math"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
)

// Rows gives access to the values of a batch. It is not safe for concurrent use.
type Rows struct {
	*Batch
	delimiter byte
	cursors   []cursor // by column: the segment of the row accessed last
	text      []byte
	out       []byte
	local     []int32

	// NumberFormat is how the numbers in columns of text are written.
	NumberFormat numeric.Format
}

// cursor is the index of a segment and the number of rows before it.
type cursor struct{ segment, before int }

// Reset makes the rows those of a batch. RawLine uses the delimiter.
func (r *Rows) Reset(b *Batch, delimiter byte) {
	r.Batch, r.delimiter = b, delimiter
	r.cursors = scratch.Sized(r.cursors, len(b.columns))
	clear(r.cursors)
}

// Line returns i: rows count as lines.
func (r *Rows) Line(i int) int { return i }

// at returns the segment that contains row i of column c, and the index within it.
func (r *Rows) at(i, c int) (*Segment, int) {
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

// Field returns the value of row i in column c as trimmed text, valid until the next
// call.
func (r *Rows) Field(i, c int) []byte {
	s, k := r.at(i, c)
	r.text = s.appendText(r.text[:0], k)
	return fieldtext.Trim(r.text)
}

// RawLine returns row i as a line of CSV without line end, valid until the next call.
func (r *Rows) RawLine(i int) []byte {
	r.out = r.out[:0]
	for c := range r.columns {
		if c > 0 {
			r.out = append(r.out, r.delimiter)
		}
		s, k := r.at(i, c)
		r.text = s.appendText(r.text[:0], k)
		r.out = fieldtext.AppendQuoted(r.out, r.text, r.delimiter)
	}
	return r.out
}

// eachSegment calls f for the values of column c in the rows in keep, one segment at a
// time: the values of s belong to the rows keep[from], keep[from+1], ... It stops when
// f returns false.
func (r *Rows) eachSegment(c int, keep []int32, f func(s *Segment, from int) bool) {
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

// Numbers reads column c of the rows in keep. It returns the index in keep of the
// first row whose value is not a finite number, with its kind, or len(keep). Missing
// values are NaN and are counted.
func (r *Rows) Numbers(dst []float32, c int, keep []int32) (good, missing int, kind numeric.Kind) {
	good, kind = len(keep), numeric.Finite
	r.eachSegment(c, keep, func(s *Segment, from int) bool {
		written := !r.NumberFormat.Plain() && s.isText()
		if !written && s.plainNumbers(dst[from:][:s.n]) {
			return true
		}
		for i := range s.n {
			v, is := s.number(i)
			if written && is != numeric.Missing {
				v, is = r.NumberFormat.Parse(fieldtext.Trim(s.appendText(nil, i)))
			}
			switch is {
			case numeric.Missing:
				missing++
				v = float32(math.NaN())
			case numeric.Text, numeric.Infinite, numeric.NaN:
				good, kind = from+i, is
				return false
			}
			dst[from+i] = v
		}
		return true
	})
	return good, missing, kind
}

// isText reports whether the values are texts.
func (s *Segment) isText() bool {
	if s.index != nil {
		return s.dict.values.isText()
	}
	return s.i32 == nil && s.i64 == nil && s.f32 == nil && s.f64 == nil
}

// plainNumbers reads a segment whose values are all numbers in the fastest way. It
// reports whether the segment is one.
func (s *Segment) plainNumbers(dst []float32) bool {
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

// Texts copies the values out as trimmed text, by columns.
func (r *Rows) Texts() [][]string {
	columns := make([][]string, len(r.columns))
	for c := range columns {
		column := make([]string, r.n)
		for i := range column {
			column[i] = string(r.Field(i, c))
		}
		columns[c] = column
	}
	return columns
}
