package dataset

import (
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// rowGroupRows is the number of rows of a row group that is written: what a reader
// takes at a time, and what the writer holds.
const rowGroupRows = 1 << 19

// parquetWriter writes a Parquet file by columns: nulls allowed, dictionaries
// where they pay, snappy.
type parquetWriter struct {
	w      *parquet.GenericWriter[any]
	kinds  []columnKind
	values []parquet.Value
	rows   int // of the row group
}

// orderedGroup is a group whose fields stand in the table's order, not in that of
// their names.
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

func newParquetWriter(w io.Writer, names []string, kinds []columnKind) (tableWriter, error) {
	group := parquet.Group{}
	for c, name := range names {
		var node parquet.Node
		switch kinds[c].what {
		case whatText:
			node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		case whatInteger:
			node = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.RLEDictionary)
		case whatFloat32:
			node = parquet.Leaf(parquet.FloatType)
		case whatFloat64:
			node = parquet.Leaf(parquet.DoubleType)
		case whatBool:
			node = parquet.Leaf(parquet.BooleanType)
		case whatDate:
			node = parquet.Date()
		case whatMoment:
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

func (p *parquetWriter) write(columns []segment, n int) error {
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

func (p *parquetWriter) value(s *segment, i, c int) parquet.Value {
	switch kind := p.kinds[c]; kind.what {
	case whatInteger:
		return parquet.Int64Value(s.i64[i])
	case whatFloat32:
		return parquet.FloatValue(s.f32[i])
	case whatFloat64:
		return parquet.DoubleValue(s.f64[i])
	case whatBool:
		return parquet.BooleanValue(s.i64[i] != 0)
	case whatDate:
		return parquet.Int32Value(int32(s.i64[i]))
	case whatMoment:
		if kind.per == 1 {
			return parquet.Int64Value(s.i64[i] * 1000) // there are no seconds
		}
		return parquet.Int64Value(s.i64[i])
	}
	return parquet.ByteArrayValue(s.text(i))
}

func (p *parquetWriter) close() error { return p.w.Close() }
