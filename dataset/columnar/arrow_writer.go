package columnar

import (
	"io"

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
	kinds   []Kind
	builder *array.RecordBuilder
}

// NewArrowWriter returns a writer of an Arrow IPC file, compressed with LZ4.
func NewArrowWriter(w io.Writer, names []string, kinds []Kind) (Writer, error) {
	return newArrowWriter(w, names, kinds, ipc.WithLZ4())
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
	return &arrowWriter{w: out, kinds: kinds, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}, nil
}

// NewArrowStreamWriter returns a writer of an Arrow IPC stream, which is not compressed.
func NewArrowStreamWriter(w io.Writer, names []string, kinds []Kind) Writer {
	schema := schemaOf(names, kinds)
	return &arrowWriter{w: ipc.NewWriter(w, ipc.WithSchema(schema)), kinds: kinds, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}
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

func (a *arrowWriter) Write(columns []Segment, n int) error {
	for c := range columns {
		s := &columns[c]
		switch b := a.builder.Field(c).(type) {
		case *array.Int64Builder:
			b.AppendValues(s.i64, s.valid)
		case *array.Float32Builder:
			b.AppendValues(s.f32, s.valid)
		case *array.Float64Builder:
			b.AppendValues(s.f64, s.valid)
		case *array.TimestampBuilder:
			b.AppendValues(widened[int64, arrow.Timestamp](s.i64), s.valid)
		case *array.Date32Builder:
			b.AppendValues(widened[int64, arrow.Date32](s.i64), s.valid)
		case *array.BooleanBuilder:
			for i := range n {
				if s.valid[i] {
					b.Append(s.i64[i] != 0)
				} else {
					b.AppendNull()
				}
			}
		case *array.StringBuilder:
			for i := range n {
				if s.valid[i] {
					b.BinaryBuilder.Append(s.text(i))
				} else {
					b.AppendNull()
				}
			}
		}
	}
	record := a.builder.NewRecordBatch()
	defer record.Release()
	return a.w.Write(record)
}

func (a *arrowWriter) Close() error { return a.w.Close() }
