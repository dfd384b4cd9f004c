package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// parquetTable reads a Parquet file by column pages: one goroutine a column decodes
// pages one after the other, and what it has decoded is at most a few batches ahead
// of what was asked for. A page is not copied, and a column's dictionary is used as
// it is.
type parquetTable struct {
	name    string
	file    *os.File
	parquet *parquet.File
	columns []parquetColumn
	streams []parquetStream
	stop    chan struct{}
	group   sync.WaitGroup
}

// parquetColumn is a column of the schema.
type parquetColumn struct {
	name    string
	leaf    int // place among the column chunks of a row group, or -1 where it is nested
	kind    parquet.Kind
	form    form
	special string // uuid, decimal, float16 or ""
	scale   int    // of decimals that are bytes
}

// parquetStream is the column that a goroutine reads.
type parquetStream struct {
	column  int
	batches chan parquetPart
}

type parquetPart struct {
	segments []segment
	pages    []parquet.Page // that hold the values of segments, retained
	n        int
	err      error
}

func openParquet(name string, file *os.File) (t *parquetTable, err error) {
	defer recoverDamage(name, &err)
	info, err := file.Stat()
	if err != nil {
		return nil, parquetProblem(name, err)
	}
	if !endsInMagic(file, info.Size()) {
		return nil, &InputError{File: name, Problem: "the Parquet file ends too early: it is truncated", Remedy: "copy or write it again"}
	}
	p, err := parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(256<<10))
	if err != nil {
		return nil, parquetProblem(name, err)
	}
	t = &parquetTable{name: name, file: file, parquet: p, stop: make(chan struct{})}
	for _, c := range p.Root().Columns() {
		column := parquetColumn{name: c.Name(), leaf: -1}
		if c.Leaf() && !c.Repeated() {
			column.leaf = c.Index()
			column.describe(c.Type())
		}
		t.columns = append(t.columns, column)
	}
	if p.NumRows() == 0 {
		return nil, &InputError{File: name, Problem: "the table has no rows", Remedy: "give at least one row"}
	}
	return t, nil
}

// endsInMagic reports whether the file's last bytes are those of a whole one.
func endsInMagic(file *os.File, size int64) bool {
	var end [4]byte
	if size < 12 {
		return false
	}
	_, err := file.ReadAt(end[:], size-4)
	return err == nil && typedFormat(end[:]) == "Parquet"
}

// describe finds out what the values of a type stand for.
func (c *parquetColumn) describe(t parquet.Type) {
	c.kind = t.Kind()
	logical := t.LogicalType()
	if c.kind == parquet.Boolean {
		c.form.kind = formBool
	}
	if c.kind == parquet.Int96 {
		c.form = form{formMoment, 1e9}
	}
	if logical == nil {
		return
	}
	switch l := logical.Value.(type) {
	case *format.DateType:
		c.form.kind = formDate
	case *format.TimestampType:
		c.form = form{formMoment, perSecond(l.Unit)}
	case *format.TimeType:
		c.form = form{formTime, perSecond(l.Unit)}
	case *format.IntType:
		if !l.IsSigned {
			c.form.kind = formUnsigned
		}
	case *format.UUIDType:
		c.special = "uuid"
	case *format.Float16Type:
		c.special = "float16"
	case *format.DecimalType:
		c.special, c.scale = "decimal", int(l.Scale)
		if c.kind == parquet.Int32 || c.kind == parquet.Int64 {
			c.special = ""
			c.form = form{formDecimal, 1}
			for range min(max(c.scale, 0), 18) {
				c.form.per *= 10
			}
		}
	}
}

func perSecond(unit format.TimeUnit) int64 {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	}
	return 1e9
}

func (t *parquetTable) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

func (t *parquetTable) readable(column int) bool { return t.columns[column].leaf >= 0 }

func (t *parquetTable) kind(column int) columnKind {
	c := &t.columns[column]
	switch c.kind {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Int96:
		if c.kind == parquet.Int32 && c.form.kind == formUnsigned {
			return columnKind{what: whatInteger}
		}
		return c.form.kindOf()
	case parquet.Float:
		return columnKind{what: whatFloat32}
	case parquet.Double:
		return columnKind{what: whatFloat64}
	}
	return columnKind{what: whatText}
}

func (t *parquetTable) start(columns []int) {
	const ahead = 2 // batches
	for _, c := range columns {
		t.streams = append(t.streams, parquetStream{column: c, batches: make(chan parquetPart, ahead)})
	}
	for _, s := range t.streams {
		t.group.Go(func() {
			defer close(s.batches)
			send := func(p parquetPart) bool {
				select {
				case s.batches <- p:
					return true
				case <-t.stop:
					return false
				}
			}
			if err := t.readColumn(s.column, send); err != nil {
				send(parquetPart{err: err})
			}
		})
	}
}

func (t *parquetTable) next() (*typedBatch, error) {
	b := &typedBatch{n: -1, columns: make([][]segment, len(t.columns))}
	var pages []parquet.Page
	for _, s := range t.streams {
		part, more := <-s.batches
		switch {
		case part.err != nil:
			return nil, part.err
		case !more && b.n < 0:
			return nil, io.EOF
		case b.n >= 0 && part.n != b.n:
			return nil, parquetProblem(t.name, errors.New("its columns differ in length"))
		}
		b.n = part.n
		b.columns[s.column] = part.segments
		pages = append(pages, part.pages...)
	}
	b.release = func() {
		for _, page := range pages {
			parquet.Release(page)
		}
	}
	return b, nil
}

func (t *parquetTable) close() {
	close(t.stop)
	t.group.Wait()
	t.file.Close()
}

// readColumn sends a column in batches that end where row groups do. It returns
// nil too where it was told to stop.
func (t *parquetTable) readColumn(at int, send func(parquetPart) bool) (err error) {
	defer recoverDamage(t.name, &err)
	c := &t.columns[at]
	if c.leaf < 0 {
		return &InputError{File: t.name, Column: c.name, Problem: "this column is nested: it holds lists or records", Remedy: "flatten it, or drop it"}
	}
	for _, group := range t.parquet.RowGroups() {
		left := group.NumRows()
		pages := group.ColumnChunks()[c.leaf].Pages()
		var part parquetPart
		d := parquetDictionary{column: c}
		for left > 0 {
			page, err := pages.ReadPage()
			if err != nil {
				pages.Close()
				if err == io.EOF {
					err = fmt.Errorf("column %q ends %d rows too early", c.name, left)
				}
				return parquetProblem(t.name, err)
			}
			s, err := c.segment(page, &d)
			if err != nil {
				pages.Close()
				return parquetProblem(t.name, fmt.Errorf("column %q: %w", c.name, err))
			}
			left -= int64(s.n)
			for from := 0; from < s.n; {
				to := min(s.n, from+typedRowsBatch-part.n)
				part.segments = append(part.segments, s.slice(from, to))
				part.pages = append(part.pages, page)
				parquet.Retain(page)
				part.n += to - from
				from = to
				if part.n == typedRowsBatch {
					if !send(part) {
						pages.Close()
						return nil
					}
					part = parquetPart{}
				}
			}
			parquet.Release(page) // but for those who retain it
		}
		pages.Close()
		if left < 0 {
			return parquetProblem(t.name, fmt.Errorf("column %q has %d rows too many", c.name, -left))
		}
		if part.n > 0 && !send(part) {
			return nil
		}
	}
	return nil
}

// parquetDictionary is the dictionary of a column in a row group, once read.
type parquetDictionary struct {
	column *parquetColumn
	of     parquet.Dictionary
	values *dictionary
}

func (d *parquetDictionary) get(of parquet.Dictionary) (*dictionary, error) {
	if d.of != of {
		s, err := d.column.values(of.Page().Data(), of.Len())
		if err != nil {
			return nil, err
		}
		d.of, d.values = of, &dictionary{values: s}
	}
	return d.values, nil
}

// segment takes the values out of a page.
func (c *parquetColumn) segment(page parquet.Page, d *parquetDictionary) (s segment, err error) {
	n, nulls := int(page.NumValues()), int(page.NumNulls())
	if of := page.Dictionary(); of != nil {
		data := page.Data()
		s = segment{n: n - nulls, index: data.Int32()}
		if s.dict, err = d.get(of); err != nil {
			return s, err
		}
		if len(s.index) < s.n {
			return s, fmt.Errorf("a page of %d values holds %d", n-nulls, len(s.index))
		}
		if s.index = s.index[:s.n]; s.n == 0 {
			s.index = []int32{} // a page of nulls has no values, and is of indexes all the same
		}
		if !allWithin(s.index, int32(s.dict.values.n)) {
			return s, errors.New("a value is not in the dictionary")
		}
	} else if s, err = c.values(page.Data(), n-nulls); err != nil {
		return s, err
	}
	if nulls == 0 {
		return s, nil
	}
	present := make([]bool, n)
	found := 0
	for i, level := range page.DefinitionLevels() {
		if level > 0 {
			present[i] = true
			found++
		}
	}
	if found != s.n {
		return s, fmt.Errorf("a page tells of %d nulls and has %d", nulls, n-found)
	}
	return s.spread(present), nil
}

// allWithin reports whether all indexes are in [0, n).
//
// Two at a time: v and n-1-v have no sign bit. What the lower half may borrow of the
// upper shows in the lower.
func allWithin(indexes []int32, n int32) bool {
	const signs = 1<<63 | 1<<31
	last := uint64(uint32(n - 1))
	limits := last<<32 | last
	wrong := uint64(0)
	memory := bytesOf(indexes)
	for ; len(memory) >= 16; memory = memory[16:] {
		v, w := binary.LittleEndian.Uint64(memory), binary.LittleEndian.Uint64(memory[8:])
		wrong |= v | (limits - v) | w | (limits - w)
	}
	for _, v := range indexes[len(indexes)&^3:] {
		wrong |= uint64(uint32(v | (n - 1 - v)))
	}
	return wrong&signs == 0
}

// values makes a segment of n values without nulls.
func (c *parquetColumn) values(data encoding.Values, n int) (segment, error) {
	s := segment{n: n, form: c.form}
	have := 0
	switch c.kind {
	case parquet.Boolean:
		bits := data.Boolean()
		have = min(8*len(bits), n)
		s.i32 = make([]int32, have)
		for i := range s.i32 {
			s.i32[i] = int32(bits[i/8] >> (i % 8) & 1)
		}
	case parquet.Int32:
		s.i32 = data.Int32()
		have = len(s.i32)
		if c.form.kind == formUnsigned && have >= n {
			s.i64 = make([]int64, n)
			for i, v := range s.i32[:n] {
				s.i64[i] = int64(uint32(v))
			}
			s.i32 = nil
		}
	case parquet.Int64:
		s.i64 = data.Int64()
		have = len(s.i64)
	case parquet.Int96:
		moments := data.Int96()
		have = min(len(moments), n)
		s.i64 = make([]int64, have)
		for i, v := range moments[:have] {
			s.i64[i] = int96Moment(v)
		}
	case parquet.Float:
		s.f32 = data.Float()
		have = len(s.f32)
	case parquet.Double:
		s.f64 = data.Double()
		have = len(s.f64)
	case parquet.ByteArray:
		s.data, s.offsets = data.ByteArray()
		have = len(s.offsets) - 1
		if n == 0 {
			s.offsets = make([]uint32, 1)
			have = 0
		}
	case parquet.FixedLenByteArray:
		bytes, size := data.FixedLenByteArray()
		if size < 1 {
			return s, fmt.Errorf("values of %d bytes", size)
		}
		have = len(bytes) / size
		s.data, s.offsets = bytes, make([]uint32, have+1)
		for i := range s.offsets {
			s.offsets[i] = uint32(i * size)
		}
	}
	if have < n {
		return s, fmt.Errorf("%d values where %d should be", have, n)
	}
	whole := s.slice(0, n)
	return c.written(whole), nil
}

// written turns bytes that stand for something else into its text.
func (c *parquetColumn) written(s segment) segment {
	if c.special == "" {
		return s
	}
	out := segment{n: s.n, data: []byte{}, offsets: make([]uint32, 1, s.n+1)}
	for i := range s.n {
		value := s.text(i)
		switch c.special {
		case "uuid":
			if len(value) == 16 {
				out.data = fmt.Appendf(out.data, "%x-%x-%x-%x-%x", value[:4], value[4:6], value[6:8], value[8:10], value[10:])
			}
		case "float16":
			if len(value) == 2 {
				out.data = fmt.Appendf(out.data, "%g", float16(binary.LittleEndian.Uint16(value)))
			}
		case "decimal":
			v := new(big.Int).SetBytes(value)
			if len(value) > 0 && value[0]&0x80 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
			}
			out.data = appendScaled(out.data, v.String(), max(0, c.scale))
		}
		out.offsets = append(out.offsets, uint32(len(out.data)))
	}
	return out
}

// int96Moment returns nanoseconds since 1970: the first eight bytes hold those of
// the day, the last four the Julian day.
func int96Moment(v deprecated.Int96) int64 {
	const julian1970 = 2440588
	return (int64(v[2])-julian1970)*secondsOfDay*1e9 + int64(uint64(v[1])<<32|uint64(v[0]))
}

// parquetRows returns the number of rows of a Parquet file, or 0 where it cannot be
// read.
func parquetRows(f *os.File) (n int) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	p, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0
	}
	return int(p.NumRows())
}

func parquetProblem(name string, err error) error {
	return &InputError{File: name, Problem: fmt.Sprintf("the Parquet file is truncated or damaged (%v)", err), Remedy: "copy or write it again", Err: err}
}

// recoverDamage turns a panic of a decoder, which damaged data can cause, into an
// error.
func recoverDamage(name string, err *error) {
	if cause := recover(); cause != nil {
		*err = &InputError{File: name, Problem: fmt.Sprintf("the file is damaged: it cannot be decoded (%v)", cause), Remedy: "copy or write it again"}
	}
}
