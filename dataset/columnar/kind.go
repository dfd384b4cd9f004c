package columnar

// Kind is the type with which a column is written.
type Kind struct {
	Type Type
	per  int64 // for moments: units per second
}

// Type is the type of values that are written.
type Type uint8

const (
	Text Type = iota
	Integer
	Float32
	Float64
	Bool
	Date
	Moment // date and time
)

// kindOf returns the kind of integers with a form.
func (f form) kindOf() Kind {
	switch f.kind {
	case formInteger:
		return Kind{Type: Integer}
	case formBool:
		return Kind{Type: Bool}
	case formDate:
		return Kind{Type: Date}
	case formMoment:
		return Kind{Type: Moment, per: f.per}
	}
	return Kind{Type: Text}
}

// Numbers returns a segment of numbers. NaN becomes null.
func Numbers(values []float32) Segment {
	return Segment{n: len(values), f32: values, valid: withoutNaN(values)}
}

// WideNumbers returns a segment of 64-bit numbers. NaN becomes null.
func WideNumbers(values []float64) Segment {
	return Segment{n: len(values), f64: values, valid: withoutNaN(values)}
}

// withoutNaN reports for each value whether it is a number; nil if all are.
func withoutNaN[T float32 | float64](values []T) []bool {
	var valid []bool
	for i, v := range values {
		if v != v {
			if valid == nil {
				valid = allTrue(len(values))
			}
			valid[i] = false
		}
	}
	return valid
}

// Texts returns a segment of the texts text(0), ..., text(n-1), which it copies. An
// empty text becomes null.
func Texts(n int, text func(i int) []byte) Segment {
	s := Segment{n: n, data: []byte{}, offsets: make([]uint32, 1, n+1), valid: make([]bool, n)}
	for i := range n {
		before := len(s.data)
		s.data = append(s.data, text(i)...)
		s.offsets = append(s.offsets, uint32(len(s.data)))
		s.valid[i] = len(s.data) > before
	}
	return s
}

func allTrue(n int) []bool {
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	return all
}

// Column returns column c with the type of kind: 64-bit integers, floats or text. It
// shares no memory with the batch.
func (r *Rows) Column(c int, kind Kind) Segment {
	if kind.Type == Text {
		return Texts(r.n, func(i int) []byte {
			s, k := r.at(i, c)
			r.text = s.appendText(r.text[:0], k)
			return r.text
		})
	}
	out := Segment{n: r.n, valid: make([]bool, r.n)}
	switch kind.Type {
	case Float32:
		out.f32 = make([]float32, r.n)
	case Float64:
		out.f64 = make([]float64, r.n)
	default:
		out.i64 = make([]int64, r.n)
	}
	for i := range r.n {
		s, k := r.at(i, c)
		if out.valid[i] = !s.null(k); !out.valid[i] {
			continue
		}
		if s.index != nil {
			s, k = &s.dict.values, int(s.index[k])
		}
		switch {
		case out.f32 != nil:
			out.f32[i] = s.f32[k]
		case out.f64 != nil:
			out.f64[i] = s.f64[k]
		case s.i32 != nil:
			out.i64[i] = int64(s.i32[k])
		default:
			out.i64[i] = s.i64[k]
		}
	}
	return out
}

// A Writer writes a table by columns.
type Writer interface {
	// Write writes n rows. It takes one segment per column, with the column's kind.
	Write(columns []Segment, n int) error

	Close() error
}
