package dataset

// columnKind is the type a column is written with.
type columnKind struct {
	what what
	per  int64 // of moments: units a second
}

type what uint8

const (
	whatText what = iota
	whatInteger
	whatFloat32
	whatFloat64
	whatBool
	whatDate
	whatMoment
)

// kindOf returns the kind of integers of a form.
func (f form) kindOf() columnKind {
	switch f.kind {
	case formInteger:
		return columnKind{what: whatInteger}
	case formBool:
		return columnKind{what: whatBool}
	case formDate:
		return columnKind{what: whatDate}
	case formMoment:
		return columnKind{what: whatMoment, per: f.per}
	}
	return columnKind{what: whatText}
}

// segment returns an added column.
func (v *Values) segment(c int) segment {
	if numbers := v.Numbers[c]; numbers != nil {
		s := segment{n: len(numbers), f32: numbers}
		for i, number := range numbers {
			if number != number {
				if s.valid == nil {
					s.valid = allTrue(s.n)
				}
				s.valid[i] = false
			}
		}
		return s
	}
	t := newTexts(len(v.Texts[c]))
	for _, text := range v.Texts[c] {
		t.add([]byte(text))
	}
	return t.segment()
}

// texts collects a column of text; an empty one is null.
type texts struct{ s segment }

func newTexts(n int) *texts {
	return &texts{segment{data: []byte{}, offsets: make([]uint32, 1, n+1), valid: make([]bool, 0, n)}}
}

func (t *texts) add(text []byte) {
	t.s.data = append(t.s.data, text...)
	t.s.offsets = append(t.s.offsets, uint32(len(t.s.data)))
	t.s.valid = append(t.s.valid, len(text) > 0)
	t.s.n++
}

func (t *texts) segment() segment { return t.s }

func allTrue(n int) []bool {
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	return all
}

// column returns column c as text, quotes removed.
func (r *rows) column(c int, _ columnKind) segment {
	t := newTexts(r.n)
	for i := range r.n {
		t.add(r.field(i, c))
	}
	return t.segment()
}

// column returns column c as a kind asks for: integers of 64 bits, floats, or
// text. It shares no memory with the batch.
func (r *typedRows) column(c int, kind columnKind) segment {
	if kind.what == whatText {
		t := newTexts(r.n)
		for i := range r.n {
			s, k := r.at(i, c)
			r.text = s.appendText(r.text[:0], k)
			t.add(r.text)
		}
		return t.segment()
	}
	out := segment{n: r.n, valid: make([]bool, r.n)}
	switch kind.what {
	case whatFloat32:
		out.f32 = make([]float32, r.n)
	case whatFloat64:
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
