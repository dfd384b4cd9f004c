package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
)

type sale struct {
	Year    int32    `parquet:"year"`
	Month   int32    `parquet:"month,dict"`
	Store   string   `parquet:"store,dict,zstd"`
	Item    int64    `parquet:"item"`
	Bottles *float64 `parquet:"bottles,optional"`
}

// writeParquet writes rows in row groups of the given size.
func writeParquet[T any](tb testing.TB, path string, rows []T, group int, options ...parquet.WriterOption) {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := parquet.NewGenericWriter[T](f, options...)
	for from := 0; from < len(rows); from += group {
		if _, err := w.Write(rows[from:min(len(rows), from+group)]); err != nil {
			tb.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// sales returns the rows of a table and the same table as CSV. Some targets are missing.
func sales(n int) ([]sale, string) {
	var rows []sale
	var text strings.Builder
	text.WriteString("year,month,store,item,bottles\n")
	for i := range n {
		s := sale{Year: int32(2015 + i%2), Month: int32(i%12 + 1), Store: fmt.Sprint("store ", i/24%97), Item: int64(i/24*7919%100_003 - 50)}
		value := ""
		if i%13 != 5 {
			v := float64(i%1000) / 8
			s.Bottles = &v
			value = strconv.FormatFloat(v, 'g', -1, 64)
		}
		rows = append(rows, s)
		fmt.Fprintf(&text, "%d,%d,%s,%d,%s\n", s.Year, s.Month, s.Store, s.Item, value)
	}
	return rows, text.String()
}

// sameTable compares two tables.
func sameTable(t testing.TB, got, want *dataset.Table) {
	t.Helper()
	if got.Counts != want.Counts {
		t.Fatalf("got counts %+v, want %+v", got.Counts, want.Counts)
	}
	for m := range want.Dicts {
		if !slices.Equal(got.Dicts[m].IDs(), want.Dicts[m].IDs()) {
			t.Fatalf("mode %s: got %d ids, want %d", want.Modes[m].Name, got.Dicts[m].Len(), want.Dicts[m].Len())
		}
		if !slices.Equal(got.Codes[m], want.Codes[m]) {
			t.Fatalf("mode %s: codes differ", want.Modes[m].Name)
		}
	}
	if !slices.Equal(got.Y, want.Y) || !slices.Equal(got.W, want.W) || !slices.Equal(got.Row, want.Row) || !slices.Equal(got.Part, want.Part) {
		t.Fatal("values, weights, rows or parts differ")
	}
}

func TestParquetEqualsText(t *testing.T) {
	t.Parallel()
	n := 2*columnar.BatchRows + 5000
	rows, text := sales(n)
	dir := t.TempDir()
	csv := datasettest.WriteFile(t, "t.csv", text)
	schema := dataset.Schema{Target: "bottles", Modes: datasettest.Modes(t, "store,item,time=year+month"), Duplicates: "sum"}
	want, err := Read(context.Background(), Files(csv), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want.Counts.Missing == 0 || want.Counts.Merged == 0 {
		t.Fatalf("the test needs missing and repeated rows: %+v", want.Counts)
	}
	var hash [32]byte
	for i, tc := range []struct {
		group   int
		options []parquet.WriterOption
	}{
		{n, nil},
		{10_000, nil},
		{n, []parquet.WriterOption{parquet.PageBufferSize(3000), parquet.DataPageVersion(1)}},
		{50_000, []parquet.WriterOption{parquet.Compression(&parquet.Snappy), parquet.PageBufferSize(1 << 20)}},
	} {
		path := filepath.Join(dir, fmt.Sprintf("t%d.parquet", i))
		writeParquet(t, path, rows, tc.group, tc.options...)
		for _, threads := range []int{1, 2, 5} {
			got, err := Read(context.Background(), Files(path), schema, Format{}, threads)
			if err != nil {
				t.Fatal(err)
			}
			sameTable(t, got, want)
			if threads == 1 {
				hash = got.Hash
			} else if got.Hash != hash {
				t.Errorf("the hash with %d threads differs from that with one", threads)
			}
		}
	}
	// Several files, of both formats, are one table.
	half := 30_001
	lines := strings.SplitAfter(text, "\n")
	first := datasettest.WriteFile(t, "first.csv", strings.Join(lines[:1+half], ""))
	second := filepath.Join(dir, "second.parquet")
	writeParquet(t, second, rows[half:], 7000)
	got, err := Read(context.Background(), Files(first, second), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	sameTable(t, got, want)
}

type everything struct {
	Bool      bool             `parquet:"bool"`
	Small     uint8            `parquet:"small"`
	Unsigned  uint32           `parquet:"unsigned"`
	Large     uint64           `parquet:"large"`
	Float     float32          `parquet:"float"`
	Double    float64          `parquet:"double,dict"`
	Text      string           `parquet:"text"`
	Maybe     *string          `parquet:"maybe,optional,dict"`
	Day       int32            `parquet:"day,date"`
	Milli     int64            `parquet:"milli,timestamp(millisecond)"`
	Micro     time.Time        `parquet:"micro,timestamp(microsecond)"`
	Nano      deprecated.Int96 `parquet:"nano"`
	Clock     int32            `parquet:"clock,time(millisecond)"`
	Money     int64            `parquet:"money,decimal(2:12)"`
	UUID      [16]byte         `parquet:"uuid,uuid"`
	MaybeInt  *int64           `parquet:"maybeint,optional"`
	MaybeReal *float32         `parquet:"mayberea,optional,dict"`
}

func TestParquetTypes(t *testing.T) {
	t.Parallel()
	text, number, real := "b,\"c", int64(-7), float32(.1)
	moment := time.Date(2016, 12, 31, 23, 59, 59, 500_000_000, time.UTC)
	rows := []everything{
		{true, 255, math.MaxUint32, math.MaxUint64, .1, 1e300, " a ", &text, 17166, moment.UnixMilli(), moment, deprecated.Int96{0, 0, 2440588 + 1}, 3_600_500, -12345, [16]byte{0x12, 15: 0xff}, &number, &real},
		{false, 0, 0, 0, -2, 0, "", nil, -1, -1500, time.Unix(0, 0), deprecated.Int96{1_000_000_000, 0, 2440588}, 0, 7, [16]byte{}, nil, nil},
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeParquet(t, path, rows, 10)
	f, err := ReadFrame(context.Background(), Files(path), Format{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{
		"bool": {"true", "false"}, "small": {"255", "0"}, "unsigned": {"4294967295", "0"}, "large": {"18446744073709551615", "0"}, "float": {"0.1", "-2"}, "double": {"1e+300", "0"},
		"text": {"a", ""}, "maybe": {text, ""}, "day": {"2016-12-31", "1969-12-31"}, "milli": {"2016-12-31 23:59:59.5", "1969-12-31 23:59:58.5"}, "micro": {"2016-12-31 23:59:59.5", "1970-01-01 00:00:00"},
		"nano": {"1970-01-02 00:00:00", "1970-01-01 00:00:01"}, "clock": {"01:00:00.5", "00:00:00"}, "money": {"-123.45", "0.07"},
		"uuid": {"12000000-0000-0000-0000-0000000000ff", "00000000-0000-0000-0000-000000000000"}, "maybeint": {"-7", ""}, "mayberea": {"0.1", ""},
	}
	if f.Len() != 2 || len(f.Names) != len(want) {
		t.Fatalf("got %d rows of columns %q, want 2 rows of %d columns", f.Len(), f.Names, len(want))
	}
	for c, name := range f.Names {
		if got := [2]string{f.Columns[c][0], f.Columns[c][1]}; got != want[name] {
			t.Errorf("%s: got %q, want %q", name, got, want[name])
		}
	}
	// As ids and as targets.
	table, err := Read(context.Background(), Files(path), dataset.Schema{Target: "small", Weight: "bool", Modes: datasettest.Modes(t, "milli,micro,uuid,float")}, Format{}, 1)
	if err != nil || table.Len() != 1 || table.Counts.ZeroWeight != 1 || table.Dicts[0].ID(0) != "2016-12-31 23:59:59.5" || table.Y[0] != 255 {
		t.Errorf("got table %+v, %v", table, err)
	}
	for target, want := range map[string]string{
		"money": "", "large": "", "mayberea": "",
		"text":   `row 1, column "text", value "a": this is not a number; fix it, or use null if the target is missing`,
		"day":    `row 1, column "day", value "2016-12-31": this is not a number; fix it, or use null if the target is missing`,
		"double": `row 1, column "double", value "1e+300": this number exceeds the range of 32-bit numbers; fix it, or use null if the target is missing`,
	} {
		table, err := Read(context.Background(), Files(path), dataset.Schema{Target: target, Modes: datasettest.Modes(t, "unsigned,year(micro)")}, Format{}, 1)
		if want == "" && err == nil && table.Dicts[1].ID(0) == "2016" {
			continue
		}
		if want == "" || err == nil || err.Error() != path+", "+want {
			t.Errorf("target %s: got error %v, want %s", target, err, want)
		}
	}
}

func TestParquetErrors(t *testing.T) {
	rows, _ := sales(20_000)
	t.Chdir(t.TempDir())
	writeParquet(t, "t.parquet", rows, 8000, parquet.PageBufferSize(4000))
	schema := dataset.Schema{Target: "bottles", Modes: datasettest.Modes(t, "store,item,time=year+month"), Duplicates: "sum"}
	whole, err := os.ReadFile("t.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{4, 11, 12, 1000, len(whole) / 2, len(whole) - 4, len(whole) - 1} {
		if err := os.WriteFile("cut.parquet", whole[:keep], 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := Read(context.Background(), Files("cut.parquet"), schema, Format{}, 2)
		if table != nil || err == nil || err.Error() != "cut.parquet: the Parquet file ends too early: it is truncated; copy or write it again" {
			t.Errorf("%d bytes of %d: got error %v", keep, len(whole), err)
		}
	}
	// Damage in the middle is found unless it only changes values. It never panics.
	found := 0
	for at := 50; at < len(whole); at += len(whole) / 100 {
		damaged := slices.Clone(whole)
		for i := range min(40, len(damaged)-at-4) {
			damaged[at+i] ^= byte(0x55 + i)
		}
		if err := os.WriteFile("bad.parquet", damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := Read(context.Background(), Files("bad.parquet"), schema, Format{}, 2)
		var input *dataset.InputError
		if err != nil {
			found++
			if !errors.As(err, &input) || table != nil || input.File != "bad.parquet" {
				t.Errorf("damage at byte %d: got error %v", at, err)
			}
		}
	}
	if found < 90 {
		t.Errorf("%d of 100 damages were found, want at least 90", found)
	}
	for _, tc := range []struct {
		schema dataset.Schema
		want   string
	}{
		{dataset.Schema{Target: "bottels", Modes: datasettest.Modes(t, "store")}, `t.parquet, column "bottels": the table has no such column (did you mean "bottles"?); choose one of year, month, store, item, bottles`},
		{dataset.Schema{Target: "bottles", Modes: datasettest.Modes(t, "store,year")}, `t.parquet, row 3: cell store=store 0,year=2015 already occurs in row 1 (18267 repeated rows in total)`},
		{dataset.Schema{Target: "year", Modes: datasettest.Modes(t, "store,bottles"), Duplicates: "last"}, `t.parquet, row 6, column "bottles": the id is empty here and in other rows, 1539 of 20000 (8 %), which belong to no cell; fill the ids in, remove these rows, or do not use the column as a mode`},
		{dataset.Schema{Target: "year", Modes: datasettest.Modes(t, "hour(store)")}, `t.parquet, row 1, column "store", value "store 0": this is not a date or a time, which hour(store) requires`},
	} {
		if _, err := Read(context.Background(), Files("t.parquet"), tc.schema, Format{}, 2); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("got error %v\nwant %s", err, tc.want)
		}
	}
	type nested struct {
		ID   string   `parquet:"id"`
		Tags []string `parquet:"tags,list"`
		Y    int32    `parquet:"y"`
	}
	writeParquet(t, "n.parquet", []nested{{"a", []string{"x"}, 1}}, 1)
	if table, err := Read(context.Background(), Files("n.parquet"), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, Format{}, 1); err != nil || table.Len() != 1 {
		t.Errorf("a nested column that is not read: got error %v", err)
	}
	if _, err := Read(context.Background(), Files("n.parquet"), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "tags")}, Format{}, 1); err == nil ||
		err.Error() != `n.parquet, column "tags": the column is nested: it contains lists or records; flatten it, or drop it` {
		t.Errorf("got error %v", err)
	}
	writeParquet(t, "e.parquet", []sale{}, 1)
	if _, err := Read(context.Background(), Files("e.parquet"), schema, Format{}, 1); err == nil || err.Error() != "e.parquet: the table has no rows; give at least one row" {
		t.Errorf("got error %v", err)
	}
	datasettest.WriteGzip(t, "t.parquet.gz", string(whole))
	if _, err := Read(context.Background(), Files("t.parquet.gz"), schema, Format{}, 1); err == nil ||
		err.Error() != "t.parquet.gz: this is Parquet data within gzip; decompress it; Parquet has its own compression" {
		t.Errorf("got error %v", err)
	}
	want, err := Read(context.Background(), Files("t.parquet"), schema, Format{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(context.Background(), Reader("a reader", bytes.NewReader(whole)), schema, Format{}, 1)
	if err != nil {
		t.Fatalf("from a reader: %v", err)
	}
	sameTable(t, got, want)
}
