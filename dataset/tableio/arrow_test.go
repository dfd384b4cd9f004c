package tableio

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// arrowSales returns record batches of rows, with a dictionary for stores.
func arrowSales(rows []sale, batch int) (*arrow.Schema, []arrow.RecordBatch) {
	stores := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "year", Type: arrow.PrimitiveTypes.Int16},
		{Name: "month", Type: arrow.PrimitiveTypes.Int32},
		{Name: "store", Type: stores},
		{Name: "item", Type: arrow.BinaryTypes.String},
		{Name: "bottles", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	var batches []arrow.RecordBatch
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, r := range rows {
		b.Field(0).(*array.Int16Builder).Append(int16(r.Year))
		b.Field(1).(*array.Int32Builder).Append(r.Month)
		if err := b.Field(2).(*array.BinaryDictionaryBuilder).AppendString(r.Store); err != nil {
			panic(err)
		}
		b.Field(3).(*array.StringBuilder).Append(strconv.FormatInt(r.Item, 10))
		if r.Bottles == nil {
			b.Field(4).AppendNull()
		} else {
			b.Field(4).(*array.Float64Builder).Append(*r.Bottles)
		}
		if (i+1)%batch == 0 || i == len(rows)-1 {
			batches = append(batches, b.NewRecordBatch())
		}
	}
	return schema, batches
}

func writeArrow(tb testing.TB, schema *arrow.Schema, batches []arrow.RecordBatch, stream bool, options ...ipc.Option) []byte {
	tb.Helper()
	var out bytes.Buffer
	options = append(options, ipc.WithSchema(schema))
	var w interface {
		Write(arrow.RecordBatch) error
		io.Closer
	} = ipc.NewWriter(&out, options...)
	if !stream {
		out.Reset()
		var err error
		if w, err = ipc.NewFileWriter(&out, options...); err != nil {
			tb.Fatal(err)
		}
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestArrowEqualsText(t *testing.T) {
	t.Parallel()
	rows, text := sales(columnar.BatchRows + 9000)
	schema := dataset.Schema{Target: "bottles", Modes: datasettest.Modes(t, "store,item,time=year+month"), Duplicates: "sum"}
	want, err := Read(context.Background(), Files(datasettest.WriteFile(t, "t.csv", text)), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1000, len(rows)} {
		arrowSchema, batches := arrowSales(rows, batch)
		for name, content := range map[string][]byte{
			"t.arrow":      writeArrow(t, arrowSchema, batches[:1], false),
			"lz4.arrow":    writeArrow(t, arrowSchema, batches[:1], false, ipc.WithLZ4()),
			"t.arrows":     writeArrow(t, arrowSchema, batches, true, ipc.WithDictionaryDeltas(true)),
			"zstd.arrows":  writeArrow(t, arrowSchema, batches, true, ipc.WithZstd()),
			"a.name.of.it": writeArrow(t, arrowSchema, batches, true),
		} {
			if strings.HasSuffix(name, ".arrow") && batch < len(rows) {
				continue // the dictionary of a file must not change
			}
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, threads := range []int{1, 3} {
				got, err := Read(context.Background(), Files(path), schema, Format{}, threads)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				sameTable(t, got, want)
			}
			got, err := Read(context.Background(), Files("-"), schema, Format{Stdin: bytes.NewReader(content)}, 1)
			if err != nil {
				t.Fatalf("%s from standard input: %v", name, err)
			}
			sameTable(t, got, want)
		}
	}
}

func TestArrowTypes(t *testing.T) {
	t.Parallel()
	pool := memory.DefaultAllocator
	types := []struct {
		typ  arrow.DataType
		add  func(b array.Builder)
		want string
	}{
		{arrow.PrimitiveTypes.Int8, func(b array.Builder) { b.(*array.Int8Builder).Append(-8) }, "-8"},
		{arrow.PrimitiveTypes.Uint8, func(b array.Builder) { b.(*array.Uint8Builder).Append(255) }, "255"},
		{arrow.PrimitiveTypes.Uint16, func(b array.Builder) { b.(*array.Uint16Builder).Append(65535) }, "65535"},
		{arrow.PrimitiveTypes.Uint32, func(b array.Builder) { b.(*array.Uint32Builder).Append(math.MaxUint32) }, "4294967295"},
		{arrow.PrimitiveTypes.Uint64, func(b array.Builder) { b.(*array.Uint64Builder).Append(math.MaxUint64) }, "18446744073709551615"},
		{arrow.PrimitiveTypes.Int64, func(b array.Builder) { b.(*array.Int64Builder).Append(-1) }, "-1"},
		{arrow.PrimitiveTypes.Float32, func(b array.Builder) { b.(*array.Float32Builder).Append(.1) }, "0.1"},
		{arrow.FixedWidthTypes.Boolean, func(b array.Builder) { b.(*array.BooleanBuilder).Append(true) }, "true"},
		{arrow.FixedWidthTypes.Date32, func(b array.Builder) { b.(*array.Date32Builder).Append(17166) }, "2016-12-31"},
		{arrow.FixedWidthTypes.Date64, func(b array.Builder) { b.(*array.Date64Builder).Append(17166 * 24 * 60 * 60 * 1000) }, "2016-12-31 00:00:00"},
		{arrow.FixedWidthTypes.Timestamp_ms, func(b array.Builder) { b.(*array.TimestampBuilder).Append(1500) }, "1970-01-01 00:00:01.5"},
		{arrow.FixedWidthTypes.Timestamp_s, func(b array.Builder) { b.(*array.TimestampBuilder).Append(-1) }, "1969-12-31 23:59:59"},
		{arrow.FixedWidthTypes.Time32ms, func(b array.Builder) { b.(*array.Time32Builder).Append(3_600_500) }, "01:00:00.5"},
		{arrow.BinaryTypes.LargeString, func(b array.Builder) { b.(*array.LargeStringBuilder).Append("large") }, "large"},
		{arrow.BinaryTypes.StringView, func(b array.Builder) { b.(*array.StringViewBuilder).Append("a view of a longer text") }, "a view of a longer text"},
		{arrow.BinaryTypes.Binary, func(b array.Builder) { b.(*array.BinaryBuilder).Append([]byte("bytes")) }, "bytes"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, func(b array.Builder) {
			if err := b.AppendValueFromString("-123.45"); err != nil {
				t.Fatal(err)
			}
		}, "-123.45"},
	}
	var fields []arrow.Field
	for i, tc := range types {
		fields = append(fields, arrow.Field{Name: "c" + string(rune('a'+i)), Type: tc.typ, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(pool, schema)
	for i, tc := range types {
		b.Field(i).AppendNull()
		tc.add(b.Field(i))
		b.Field(i).AppendNull()
	}
	record := b.NewRecordBatch()
	path := filepath.Join(t.TempDir(), "t.arrow")
	if err := os.WriteFile(path, writeArrow(t, schema, []arrow.RecordBatch{record, record.NewSlice(1, 2)}, false), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFrame(context.Background(), Files(path), Format{})
	if err != nil {
		t.Fatal(err)
	}
	for c, tc := range types {
		if want := []string{"", tc.want, "", tc.want}; !slices.Equal(f.Columns[c], want) {
			t.Errorf("%s is %q, want %q", tc.typ, f.Columns[c], want)
		}
	}
}

func TestArrowErrors(t *testing.T) {
	rows, _ := sales(3000)
	arrowSchema, batches := arrowSales(rows, 3000)
	schema := dataset.Schema{Target: "bottles", Modes: datasettest.Modes(t, "store,item,time=year+month"), Duplicates: "sum"}
	t.Chdir(t.TempDir())
	for name, whole := range map[string][]byte{"t.arrow": writeArrow(t, arrowSchema, batches, false), "t.arrows": writeArrow(t, arrowSchema, batches, true)} {
		for _, keep := range []int{9, 100, len(whole) / 2, len(whole) - 100} {
			if err := os.WriteFile(name, whole[:keep], 0o600); err != nil {
				t.Fatal(err)
			}
			table, err := Read(context.Background(), Files(name), schema, Format{}, 2)
			if table != nil || err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.HasSuffix(err.Error(), "; copy or write it again") {
				t.Errorf("%s, %d bytes of %d: got error %v", name, keep, len(whole), err)
			}
		}
	}
	list := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.BinaryTypes.String}, {Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)}}, nil)
	if err := os.WriteFile("l.arrow", writeArrow(t, list, nil, false), 0o600); err != nil {
		t.Fatal(err)
	}
	sample, err := ReadSample(Files("l.arrow"), Format{}, 1000)
	if err != nil || !slices.Equal(sample.Names, []string{"id"}) || len(sample.Rows) != 0 {
		t.Errorf("a nested column that is not read: got %+v, %v, want column id and no rows", sample, err)
	}
}
