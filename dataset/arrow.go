package dataset

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// arrowTable reads Arrow IPC, file or stream, a record batch at a time. Numbers,
// texts and dictionaries are not copied but for nulls.
type arrowTable struct {
	name    string
	schema  *arrow.Schema
	read    func() (arrow.RecordBatch, error)
	closers []func()
	wanted  []int

	pending []typedBatch
	dicts   map[int]*arrowDictionary // by column
}

// arrowDictionary is a column's dictionary and what was made of it.
type arrowDictionary struct {
	of     arrow.Array
	values *dictionary
}

// arrowBody bounds the size of a record batch: what is larger is damage.
const arrowBody = 64 << 30

func openArrowFile(name string, file *os.File) (t *arrowTable, err error) {
	defer recoverDamage(name, &err)
	r, err := ipc.NewFileReader(file, ipc.WithBodySizeLimit(arrowBody))
	if err != nil {
		return nil, arrowProblem(name, err)
	}
	at := 0
	read := func() (arrow.RecordBatch, error) {
		if at == r.NumRecords() {
			return nil, io.EOF
		}
		at++
		return r.RecordBatch(at - 1)
	}
	return &arrowTable{name: name, schema: r.Schema(), read: read, closers: []func(){func() { r.Close() }, func() { file.Close() }}}, nil
}

func openArrowStreamFile(name string, file *os.File) (*arrowTable, error) {
	t, err := openArrowStream(name, file)
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, func() { file.Close() })
	return t, nil
}

// openArrowStream reads a stream, or a file whose end is not needed: behind its
// mark of eight bytes a file is a stream.
func openArrowStream(name string, in io.Reader) (t *arrowTable, err error) {
	defer recoverDamage(name, &err)
	if peeker, ok := in.(interface {
		Peek(n int) ([]byte, error)
		Discard(n int) (int, error)
	}); ok {
		if head, err := peeker.Peek(typedMagicSize); err == nil && typedFormat(head) == "Arrow" {
			peeker.Discard(typedMagicSize)
		}
	}
	r, err := ipc.NewReader(in, ipc.WithBodySizeLimit(arrowBody))
	if err != nil {
		return nil, arrowProblem(name, err)
	}
	read := func() (arrow.RecordBatch, error) {
		if r.Next() {
			return r.RecordBatch(), nil
		}
		if err := r.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	return &arrowTable{name: name, schema: r.Schema(), read: read, closers: []func(){r.Release}}, nil
}

func (t *arrowTable) names() []string {
	names := make([]string, t.schema.NumFields())
	for i, f := range t.schema.Fields() {
		names[i] = f.Name
	}
	return names
}

func (t *arrowTable) readable(column int) bool {
	of := t.schema.Field(column).Type
	if d, ok := of.(*arrow.DictionaryType); ok {
		of = d.ValueType
	}
	return !arrow.IsNested(of.ID()) && of.ID() != arrow.EXTENSION && of.ID() != arrow.RUN_END_ENCODED
}

func (t *arrowTable) kind(column int) columnKind {
	of := t.schema.Field(column).Type
	if d, ok := of.(*arrow.DictionaryType); ok {
		of = d.ValueType
	}
	switch of := of.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		return columnKind{what: whatInteger}
	case *arrow.Float16Type, *arrow.Float32Type:
		return columnKind{what: whatFloat32}
	case *arrow.Float64Type:
		return columnKind{what: whatFloat64}
	case *arrow.BooleanType:
		return columnKind{what: whatBool}
	case *arrow.Date32Type:
		return columnKind{what: whatDate}
	case *arrow.Date64Type:
		return columnKind{what: whatMoment, per: 1e3}
	case *arrow.TimestampType:
		return columnKind{what: whatMoment, per: unitsPerSecond(of.Unit)}
	}
	return columnKind{what: whatText}
}

func (t *arrowTable) start(columns []int) { t.wanted = columns }

func (t *arrowTable) close() {
	for _, c := range t.closers {
		c()
	}
}

func (t *arrowTable) next() (b *typedBatch, err error) {
	defer recoverDamage(t.name, &err)
	for len(t.pending) == 0 {
		record, err := t.read()
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, arrowProblem(t.name, err)
		}
		if err := t.split(record); err != nil {
			return nil, err
		}
	}
	b = &t.pending[0]
	t.pending = t.pending[1:]
	return b, nil
}

// split cuts a record batch into batches of the usual size.
func (t *arrowTable) split(record arrow.RecordBatch) error {
	n := int(record.NumRows())
	whole := make([]segment, record.NumCols())
	for _, c := range t.wanted {
		s, err := t.segment(c, record.Column(c))
		if err != nil {
			return &InputError{File: t.name, Column: t.schema.Field(c).Name, Problem: err.Error(), Remedy: "flatten it, cast it, or drop it"}
		}
		if s.n != n {
			return arrowProblem(t.name, fmt.Errorf("a column of %d rows in a batch of %d", s.n, n))
		}
		whole[c] = s
	}
	t.pending = nil
	for from := 0; from < n; from += typedRowsBatch {
		to := min(n, from+typedRowsBatch)
		b := typedBatch{n: to - from, columns: make([][]segment, len(whole))}
		for _, c := range t.wanted {
			b.columns[c] = []segment{whole[c].slice(from, to)}
		}
		t.pending = append(t.pending, b)
	}
	return nil
}

// segment takes the values out of an array.
func (t *arrowTable) segment(column int, a arrow.Array) (segment, error) {
	if d, ok := a.(*array.Dictionary); ok {
		return t.indexed(column, d)
	}
	s, err := arrowValues(a)
	if err != nil {
		return s, err
	}
	if a.NullN() > 0 {
		s.valid = make([]bool, s.n)
		for i := range s.valid {
			s.valid[i] = a.IsValid(i)
		}
	}
	return s, nil
}

func (t *arrowTable) indexed(column int, a *array.Dictionary) (segment, error) {
	if t.dicts == nil {
		t.dicts = map[int]*arrowDictionary{}
	}
	known := t.dicts[column]
	if known == nil || known.of != a.Dictionary() {
		values, err := t.segment(-1, a.Dictionary())
		if err != nil {
			return segment{}, err
		}
		known = &arrowDictionary{a.Dictionary(), &dictionary{values: values}}
		t.dicts[column] = known
	}
	s := segment{n: a.Len(), index: make([]int32, a.Len()), dict: known.values}
	for i := range s.index {
		s.index[i] = -1
		if a.IsValid(i) {
			at := a.GetValueIndex(i)
			if at < 0 || at >= known.values.values.n {
				return segment{}, fmt.Errorf("the file is damaged: a value is not in the dictionary")
			}
			s.index[i] = int32(at)
		}
	}
	return s, nil
}

// arrowValues makes a segment of an array's values; what stands at nulls does not
// matter.
func arrowValues(a arrow.Array) (segment, error) {
	s := segment{n: a.Len()}
	switch a := a.(type) {
	case *array.Int8:
		s.i32 = widened[int8, int32](a.Int8Values())
	case *array.Int16:
		s.i32 = widened[int16, int32](a.Int16Values())
	case *array.Int32:
		s.i32 = a.Int32Values()
	case *array.Int64:
		s.i64 = a.Int64Values()
	case *array.Uint8:
		s.i32 = widened[uint8, int32](a.Uint8Values())
	case *array.Uint16:
		s.i32 = widened[uint16, int32](a.Uint16Values())
	case *array.Uint32:
		s.i64 = widened[uint32, int64](a.Uint32Values())
	case *array.Uint64:
		s.i64, s.form.kind = widened[uint64, int64](a.Uint64Values()), formUnsigned
	case *array.Float16:
		s.f32 = make([]float32, s.n)
		for i := range s.f32 {
			s.f32[i] = a.Value(i).Float32()
		}
	case *array.Float32:
		s.f32 = a.Float32Values()
	case *array.Float64:
		s.f64 = a.Float64Values()
	case *array.Boolean:
		s.i32, s.form.kind = make([]int32, s.n), formBool
		for i := range s.i32 {
			if a.Value(i) {
				s.i32[i] = 1
			}
		}
	case *array.Date32:
		s.i32, s.form.kind = widened[arrow.Date32, int32](a.Date32Values()), formDate
	case *array.Date64:
		s.i64, s.form = widened[arrow.Date64, int64](a.Date64Values()), form{formMoment, 1e3}
	case *array.Timestamp:
		s.i64, s.form = widened[arrow.Timestamp, int64](a.TimestampValues()), form{formMoment, unitsPerSecond(a.DataType().(*arrow.TimestampType).Unit)}
	case *array.Time32:
		s.i32, s.form = widened[arrow.Time32, int32](a.Time32Values()), form{formTime, unitsPerSecond(a.DataType().(*arrow.Time32Type).Unit)}
	case *array.Time64:
		s.i64, s.form = widened[arrow.Time64, int64](a.Time64Values()), form{formTime, unitsPerSecond(a.DataType().(*arrow.Time64Type).Unit)}
	case *array.Null:
		s.i32, s.valid = make([]int32, s.n), make([]bool, s.n)
	case *array.String:
		s.data, s.offsets = arrowText(a.ValueBytes(), a.ValueOffsets())
	case *array.Binary:
		s.data, s.offsets = arrowText(a.ValueBytes(), a.ValueOffsets())
	case *array.LargeString, *array.LargeBinary, *array.StringView, *array.BinaryView, *array.FixedSizeBinary, *array.Decimal128, *array.Decimal256, *array.Decimal32, *array.Decimal64:
		return arrowTexts(a)
	default:
		return s, fmt.Errorf("values of type %s cannot be read as ids or numbers", a.DataType())
	}
	return s, nil
}

// arrowText shares the memory of a text array.
func arrowText(data []byte, offsets []int32) ([]byte, []uint32) {
	if len(offsets) == 0 {
		return []byte{}, make([]uint32, 1)
	}
	// The bytes start with the first text's, wherever the offsets start.
	out := make([]uint32, len(offsets))
	for i, v := range offsets {
		out[i] = uint32(v - offsets[0])
	}
	if data == nil {
		data = []byte{}
	}
	return data, out
}

// arrowTexts copies an array as text.
func arrowTexts(a arrow.Array) (segment, error) {
	s := segment{n: a.Len(), data: []byte{}, offsets: make([]uint32, 1, a.Len()+1)}
	for i := range s.n {
		if a.IsValid(i) {
			switch a := a.(type) {
			case *array.LargeString:
				s.data = append(s.data, a.Value(i)...)
			case *array.LargeBinary:
				s.data = append(s.data, a.Value(i)...)
			case *array.StringView:
				s.data = append(s.data, a.Value(i)...)
			case *array.BinaryView:
				s.data = append(s.data, a.Value(i)...)
			case *array.FixedSizeBinary:
				s.data = append(s.data, a.Value(i)...)
			default:
				s.data = append(s.data, a.ValueStr(i)...)
			}
		}
		if len(s.data) > math.MaxUint32 {
			return s, fmt.Errorf("the texts of one batch take more than 4 GB")
		}
		s.offsets = append(s.offsets, uint32(len(s.data)))
	}
	return s, nil
}

func unitsPerSecond(unit arrow.TimeUnit) int64 {
	return int64(1e9 / unit.Multiplier().Nanoseconds())
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func widened[From, To integer](values []From) []To {
	out := make([]To, len(values))
	for i, v := range values {
		out[i] = To(v)
	}
	return out
}

func arrowProblem(name string, err error) error {
	return &InputError{File: name, Problem: fmt.Sprintf("the Arrow file is truncated or damaged (%v)", err), Remedy: "copy or write it again", Err: err}
}
