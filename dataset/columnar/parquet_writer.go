package columnar

import (
	"cmp"
	"io"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A row group has rowGroupRows rows or a few more. The writer holds up to maxRowGroups of
// them in memory, which are encoded at the same time.
const (
	rowGroupRows = 1 << 17
	maxRowGroups = 8
)

// parquetWriter writes a Parquet file by columns, with nulls, with dictionaries where
// they save space, and compressed by snappy.
type parquetWriter struct {
	w       *parquet.GenericWriter[any]
	kinds   []Kind
	parts   []part         // of the row group that grows
	rows    int            // in parts
	pending []*parquetRows // row groups that are being encoded, in order
}

// part is an argument of Write.
type part struct {
	columns []Segment
	n       int
}

// parquetRows is a row group that is being encoded.
type parquetRows struct {
	group *parquet.ConcurrentRowGroupWriter
	err   error
	done  chan struct{}
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
	p.parts = append(p.parts, part{columns, n})
	if p.rows += n; p.rows < rowGroupRows {
		return nil
	}
	return p.endGroup()
}

// endGroup starts to encode the rows so far as a row group. It first writes the oldest one
// if there are many.
func (p *parquetWriter) endGroup() error {
	if len(p.pending) == min(maxRowGroups, runtime.GOMAXPROCS(0)) {
		if err := p.commit(); err != nil {
			return err
		}
	}
	rows := &parquetRows{group: p.w.BeginRowGroup(), done: make(chan struct{})}
	parts := p.parts
	p.parts, p.rows, p.pending = nil, 0, append(p.pending, rows)
	go func() {
		defer close(rows.done)
		rows.err = p.encode(rows.group, parts)
	}()
	return nil
}

// commit writes the oldest row group.
func (p *parquetWriter) commit() error {
	rows := p.pending[0]
	p.pending = p.pending[1:]
	if <-rows.done; rows.err != nil {
		return rows.err
	}
	_, err := rows.group.Commit()
	return err
}

// valueRows is the number of values that are passed on together; they stay in the first-level
// cache.
const valueRows = 512

// encode writes the parts to a row group, several columns at a time: the last row group begins when
// all its rows are computed, and nothing else is left to do then.
func (p *parquetWriter) encode(group *parquet.ConcurrentRowGroupWriter, parts []part) error {
	columns := group.ColumnWriters()
	failed := make([]error, len(columns))
	parallel.For(runtime.GOMAXPROCS(0), len(columns), func(c int) { failed[c] = p.encodeColumn(columns[c], c, parts) })
	return cmp.Or(failed...)
}

// encodeColumn writes column c of the parts.
func (p *parquetWriter) encodeColumn(w *parquet.ColumnWriter, c int, parts []part) error {
	values := make([]parquet.Value, 0, valueRows)
	for _, part := range parts {
		s := &part.columns[c]
		for from := 0; from < part.n; from += valueRows {
			values = p.appendValues(values[:0], s, c, from, min(from+valueRows, part.n))
			if _, err := w.WriteRowValues(values); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// appendValues appends the values of column c at rows.
func (p *parquetWriter) appendValues(values []parquet.Value, s *Segment, c, from, to int) []parquet.Value {
	if p.kinds[c].Type == Float32 && s.valid == nil {
		for _, v := range s.f32[from:to] {
			values = append(values, parquet.FloatValue(v).Level(0, 1, c))
		}
		return values
	}
	for i := from; i < to; i++ {
		if s.valid != nil && !s.valid[i] {
			values = append(values, parquet.Value{}.Level(0, 0, c))
			continue
		}
		values = append(values, p.value(s, i, c).Level(0, 1, c))
	}
	return values
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

// Close writes the rows that remain. After an error of Write it is not called, and what
// is being encoded is dropped.
func (p *parquetWriter) Close() error {
	if p.rows > 0 {
		if err := p.endGroup(); err != nil {
			return err
		}
	}
	for len(p.pending) > 0 {
		if err := p.commit(); err != nil {
			return err
		}
	}
	return p.w.Close()
}
