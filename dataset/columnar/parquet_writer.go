package columnar

import (
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// rowGroupRows is the number of rows of a row group, which the writer holds in memory.
const rowGroupRows = 1 << 19

// parquetWriter writes a Parquet file by columns, with nulls, with dictionaries where
// they save space, and compressed by snappy.
type parquetWriter struct {
	w      *parquet.GenericWriter[any]
	kinds  []Kind
	values []parquet.Value
	rows   int // in the current row group
}

// orderedGroup is a group whose fields have the order of the table, not that of their
// names.
type orderedGroup struct {
	parquet.Group
	order []string
}

// Fields returns the fields in order.
func (g orderedGroup) Fields() []parquet.Field {
	fields := g.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(g.order, a.Name()) - slices.Index(g.order, b.Name())
	})
	return fields
}

// NewParquetWriter returns a writer of a Parquet file.
func NewParquetWriter(w io.Writer, names []string, kinds []Kind) (Writer, error) {
	group := parquet.Group{}
	for c, name := range names {
		var node parquet.Node
		switch kinds[c].Type {
		case Text:
			node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		case Integer:
			node = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.RLEDictionary)
		case Float32:
			node = parquet.Leaf(parquet.FloatType)
		case Float64:
			node = parquet.Leaf(parquet.DoubleType)
		case Bool:
			node = parquet.Leaf(parquet.BooleanType)
		case Date:
			node = parquet.Date()
		case Moment:
			node = parquet.TimestampAdjusted(parquetUnit(kinds[c].per), false)
		}
		group[name] = parquet.Optional(parquet.Compressed(node, &parquet.Snappy))
	}
	schema := parquet.NewSchema("table", orderedGroup{group, names})
	return &parquetWriter{w: parquet.NewGenericWriter[any](w, schema, parquet.CreatedBy("kft", "", "")), kinds: kinds}, nil
}

func parquetUnit(per int64) parquet.TimeUnit {
	switch {
	case per <= 1e3:
		return parquet.Millisecond
	case per == 1e6:
		return parquet.Microsecond
	}
	return parquet.Nanosecond
}

func (p *parquetWriter) Write(columns []Segment, n int) error {
	writers := p.w.ColumnWriters()
	for c := range columns {
		s := &columns[c]
		p.values = p.values[:0]
		for i := range n {
			if s.valid != nil && !s.valid[i] {
				p.values = append(p.values, parquet.Value{}.Level(0, 0, c))
				continue
			}
			p.values = append(p.values, p.value(s, i, c).Level(0, 1, c))
		}
		if _, err := writers[c].WriteRowValues(p.values); err != nil {
			return err
		}
	}
	if p.rows += n; p.rows >= rowGroupRows {
		p.rows = 0
		return p.w.Flush()
	}
	return nil
}

func (p *parquetWriter) value(s *Segment, i, c int) parquet.Value {
	switch kind := p.kinds[c]; kind.Type {
	case Integer:
		return parquet.Int64Value(s.i64[i])
	case Float32:
		return parquet.FloatValue(s.f32[i])
	case Float64:
		return parquet.DoubleValue(s.f64[i])
	case Bool:
		return parquet.BooleanValue(s.i64[i] != 0)
	case Date:
		return parquet.Int32Value(int32(s.i64[i]))
	case Moment:
		if kind.per == 1 {
			return parquet.Int64Value(s.i64[i] * 1000) // Parquet has no unit of a second
		}
		return parquet.Int64Value(s.i64[i])
	}
	return parquet.ByteArrayValue(s.text(i))
}

func (p *parquetWriter) Close() error { return p.w.Close() }
