package columnar

import (
	"io"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrowWriter writes an Arrow IPC file or stream, with one record batch per call of Write.
type arrowWriter struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	kinds  []Kind
	schema *arrow.Schema
}

// compressing is the number of columns of an Arrow file that are compressed at the same time.
const compressing = 8

// NewArrowWriter returns a writer of an Arrow IPC file, compressed with LZ4.
func NewArrowWriter(w io.Writer, names []string, kinds []Kind) (Writer, error) {
	return newArrowWriter(w, names, kinds, ipc.WithLZ4(), ipc.WithCompressConcurrency(min(compressing, runtime.GOMAXPROCS(0))))
}

// NewPlainArrowWriter returns a writer of an Arrow IPC file without compression.
func NewPlainArrowWriter(w io.Writer, names []string, kinds []Kind) (Writer, error) {
	return newArrowWriter(w, names, kinds)
}

func newArrowWriter(w io.Writer, names []string, kinds []Kind, options ...ipc.Option) (Writer, error) {
	schema := schemaOf(names, kinds)
	out, err := ipc.NewFileWriter(w, append(options, ipc.WithSchema(schema))...)
	if err != nil {
		return nil, err
	}
	return &arrowWriter{w: out, kinds: kinds, schema: schema}, nil
}

// NewArrowStreamWriter returns a writer of an Arrow IPC stream, which is not compressed.
func NewArrowStreamWriter(w io.Writer, names []string, kinds []Kind) Writer {
	schema := schemaOf(names, kinds)
	return &arrowWriter{w: ipc.NewWriter(w, ipc.WithSchema(schema)), kinds: kinds, schema: schema}
}

func schemaOf(names []string, kinds []Kind) *arrow.Schema {
	fields := make([]arrow.Field, len(names))
	for c, name := range names {
		fields[c] = arrow.Field{Name: name, Type: kinds[c].arrowType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

func (k Kind) arrowType() arrow.DataType {
	switch k.Type {
	case Integer:
		return arrow.PrimitiveTypes.Int64
	case Float32:
		return arrow.PrimitiveTypes.Float32
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Date:
		return arrow.FixedWidthTypes.Date32
	case Moment:
		unit := arrow.Nanosecond
		switch k.per {
		case 1:
			unit = arrow.Second
		case 1e3:
			unit = arrow.Millisecond
		case 1e6:
			unit = arrow.Microsecond
		}
		return &arrow.TimestampType{Unit: unit}
	}
	return arrow.BinaryTypes.String
}

// Write writes the memory of the segments as it is, except for dates and truth values.
func (a *arrowWriter) Write(columns []Segment, n int) error {
	arrays := make([]arrow.Array, len(columns))
	for c := range columns {
		arrays[c] = columns[c].array(a.kinds[c], n)
	}
	record := array.NewRecordBatch(a.schema, arrays, int64(n))
	defer record.Release()
	return a.w.Write(record)
}

// array returns the segment as an array of n values, which shares its memory where the
// layouts agree.
func (s *Segment) array(kind Kind, n int) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if s.valid != nil {
		bitmap := make([]byte, (n+7)/8)
		for i, is := range s.valid[:n] {
			if is {
				bitmap[i/8] |= 1 << (i % 8)
			} else {
				nulls++
			}
		}
		if nulls > 0 {
			valid = memory.NewBufferBytes(bitmap)
		}
	}
	buffers := []*memory.Buffer{valid}
	switch kind.Type {
	case Integer, Moment:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(s.i64)))
	case Float32:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(s.f32)))
	case Float64:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(s.f64)))
	case Date:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(widened[int64, int32](s.i64))))
	case Bool:
		bits := make([]byte, (n+7)/8)
		for i, v := range s.i64[:n] {
			if v != 0 {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		buffers = append(buffers, memory.NewBufferBytes(bits))
	default:
		buffers = append(buffers, memory.NewBufferBytes(bytesOf(s.offsets)), memory.NewBufferBytes(s.data))
	}
	data := array.NewData(kind.arrowType(), n, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (a *arrowWriter) Close() error { return a.w.Close() }
