package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

func outputFor(t *testing.T, name string) Output {
	t.Helper()
	out, err := OutputFor(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A file name with .tsv changes the delimiter to a tab; quotes are kept.
func TestAppendColumnsDelimiter(t *testing.T) {
	t.Chdir(t.TempDir())
	for in, want := range map[string]string{
		"store,note\nstore 1,\"a, \"\"b\"\"\"\nx,\"t\tt\"\n": "store\tnote\tscore\twhy, then\nstore 1\t\"a, \"\"b\"\"\"\t\t\nx\t\"t\tt\"\t-0.9\t\"unknown, \"\"x\"\"\"\n",
		"store\tnote\nstore 1\ta\nx\tb\n":                    "store\tnote\tscore\twhy, then\nstore 1\ta\t\t\nx\tb\t-0.9\t\"unknown, \"\"x\"\"\"\n",
		"store;note\r\nstore 1;a\r\nx;b\r\n":                 "store\tnote\tscore\twhy, then\r\nstore 1\ta\t\t\r\nx\tb\t-0.9\t\"unknown, \"\"x\"\"\"\r\n",
	} {
		if err := os.WriteFile("in.csv", []byte(in), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := appendScores(t, "in.csv", "out.tsv", dataset.Schema{Modes: datasettest.Modes(t, "store")}, dataset.NewDict([]string{"store 1"}), 1); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("out.tsv")
		if err != nil || string(got) != want {
			t.Errorf("input %q: got\n%q, %v, want\n%q", in, got, err, want)
		}
	}
}

func TestOutputFor(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Output{
		"a.csv": {Format: "text"}, "-": {Format: "text"}, "a.parquet": {Format: "parquet"}, "A.PARQUET": {Format: "parquet"}, "x/a.arrow": {Format: "arrow"}, "a.feather": {Format: "arrow"},
		"a.csv.gz": {Format: "text", Compression: "gzip"}, "a.csv.zst": {Format: "text", Compression: "zstd"}, "a.tsv.zst": {Format: "text", Compression: "zstd", Delimiter: '\t'},
	} {
		if got, err := OutputFor(name); got != want || err != nil {
			t.Errorf("OutputFor(%s) = %+v, %v, want %+v", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"a.parquet.gz": "a.parquet.gz: a file of format parquet is not compressed as a whole; write a.parquet, or text, as .csv.gz",
		"a.arrow.zst":  "a.arrow.zst: a file of format arrow is not compressed as a whole; write a.arrow, or text, as .csv.zst",
	} {
		if _, err := OutputFor(name); err == nil || err.Error() != want {
			t.Errorf("OutputFor(%s): got error %v, want %s", name, err, want)
		}
	}
}

// appendScores appends the code of the store, with NaN in every third row, and a text.
func appendScores(t *testing.T, in, out string, schema dataset.Schema, dict *dataset.Dict, threads int) error {
	t.Helper()
	var w bytes.Buffer
	err := AppendColumns(context.Background(), Files(in), schema, []*dataset.Dict{dict}, Format{}, threads, &w, outputFor(t, out), []AddedColumn{{Name: "score"}, {Name: "why, then", Text: true}},
		func(b *Batch, v *AddedValues) error {
			for i, code := range b.Codes[0] {
				v.Numbers[0][i] = float32(code) + .1
				if (b.First+i)%3 == 0 {
					v.Numbers[0][i] = float32(math.NaN())
				}
				if code < 0 {
					v.Texts[1][i] = "unknown, \"" + b.ID(0, i) + "\""
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	return os.WriteFile(out, w.Bytes(), 0o600)
}

// Every format is written from every format, read back and compared.
func TestAppendColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, text := sales(columnar.BatchRows + 2001)
	if err := os.WriteFile("in.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	writeParquet(t, "in.parquet", rows, 20_000)
	arrowSchema, batches := arrowSales(rows, len(rows))
	if err := os.WriteFile("in.arrow", writeArrow(t, arrowSchema, batches, false), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Modes: datasettest.Modes(t, "store")}
	dict := dataset.NewDict([]string{"store 3", "store 1"})
	var want *dataset.Frame
	for _, in := range []string{"in.csv", "in.parquet", "in.arrow"} {
		for _, out := range []string{"out.csv", "out.csv.gz", "out.csv.zst", "out.tsv", "out.parquet", "out.arrow"} {
			if err := appendScores(t, in, out, schema, dict, 2); err != nil {
				t.Fatalf("%s to %s: %v", in, out, err)
			}
			got, err := ReadFrame(context.Background(), Files(out), Format{})
			if err != nil {
				t.Fatalf("%s to %s: %v", in, out, err)
			}
			if want == nil {
				want = got
				if names := []string{"year", "month", "store", "item", "bottles", "score", "why, then"}; !slices.Equal(got.Names, names) || got.Len() != len(rows) {
					t.Fatalf("got columns %q, %d rows, want %q, %d rows", got.Names, got.Len(), names, len(rows))
				}
				last := got.Len() - 1
				for c, text := range map[int]string{2: rows[last].Store, 5: "-0.9", 6: `unknown, "` + rows[last].Store + `"`} {
					if got.Columns[c][last] != text {
						t.Fatalf("column %s of the last row is %q, want %q", got.Names[c], got.Columns[c][last], text)
					}
				}
				if got.Columns[5][0] != "" || got.Columns[5][25] != "1.1" || got.Columns[6][25] != "" {
					t.Fatalf("got added columns %q, %q", got.Columns[5][:26], got.Columns[6][25])
				}
				continue
			}
			if !slices.Equal(got.Names, want.Names) {
				t.Errorf("%s to %s: got columns %q, want %q", in, out, got.Names, want.Names)
			}
			for c := range want.Columns {
				if !slices.Equal(got.Columns[c], want.Columns[c]) {
					t.Errorf("%s to %s: column %s differs", in, out, want.Names[c])
				}
			}
		}
	}
}

// Types are kept from Parquet to Arrow to Parquet.
func TestAppendColumnsKeepsTypes(t *testing.T) {
	t.Chdir(t.TempDir())
	text, number, real := "b", int64(-7), float32(.1)
	moment := time.Date(2016, 12, 31, 23, 59, 59, 500_000_000, time.UTC)
	writeParquet(t, "a.parquet", []everything{
		{Bool: true, Unsigned: 7, Large: math.MaxUint64, Float: .1, Double: 1e300, Text: "store 1", Maybe: &text, Day: 17166, Milli: 1500, Micro: moment, Money: -12345, MaybeInt: &number, MaybeReal: &real},
		{Text: "store 2"},
	}, 10)
	schema := dataset.Schema{Modes: datasettest.Modes(t, "text")}
	if err := appendScores(t, "a.parquet", "b.arrow", schema, dataset.NewDict([]string{"store 1"}), 1); err != nil {
		t.Fatal(err)
	}
	for _, a := range []string{"score", "why, then"} {
		err := AppendColumns(context.Background(), Files("b.arrow"), schema, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 1, new(bytes.Buffer), outputFor(t, "c.csv"), []AddedColumn{{Name: a}}, nil)
		if err == nil || !strings.Contains(err.Error(), "the table already has this column") {
			t.Errorf("column %q exists: got error %v", a, err)
		}
	}
	var w bytes.Buffer
	if err := AppendColumns(context.Background(), Files("b.arrow"), schema, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 1, &w, outputFor(t, "c.parquet"), nil, func(*Batch, *AddedValues) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("c.parquet", w.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a, c := openKinds(t, "a.parquet"), openKinds(t, "c.parquet")
	if len(c) != len(a)+2 {
		t.Fatalf("got %d columns, want %d", len(c), len(a)+2)
	}
	for name, kind := range a {
		if c[name] != kind {
			t.Errorf("%s: got type %v, want %v", name, c[name], kind)
		}
	}
	before, err := ReadFrame(context.Background(), Files("a.parquet"), Format{})
	if err != nil {
		t.Fatal(err)
	}
	after, err := ReadFrame(context.Background(), Files("c.parquet"), Format{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range before.Names {
		if !slices.Equal(before.Columns[i], after.Columns[i]) {
			t.Errorf("%s: got %q, want %q", name, after.Columns[i], before.Columns[i])
		}
	}
}

func openKinds(t *testing.T, name string) map[string]columnar.Kind {
	t.Helper()
	c, err := Files(name).inputs[0].open(nil, delimited.BlockSize)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	kinds := map[string]columnar.Kind{}
	for i, name := range c.typed.Names() {
		kinds[name] = c.typed.Kind(i)
	}
	return kinds
}

func TestAppendColumnsErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, _ := sales(100)
	writeParquet(t, "in.parquet", rows, 100)
	failed := errors.New("failed")
	for _, out := range []string{"a.csv", "a.csv.zst", "a.parquet", "a.arrow"} {
		err := AppendColumns(context.Background(), Files("in.parquet"), dataset.Schema{Modes: datasettest.Modes(t, "store")}, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 2, new(bytes.Buffer), outputFor(t, out), nil,
			func(*Batch, *AddedValues) error { return failed })
		if !errors.Is(err, failed) {
			t.Errorf("%s: got error %v", out, err)
		}
		err = AppendColumns(context.Background(), Files("in.parquet"), dataset.Schema{Modes: datasettest.Modes(t, "shop")}, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 2, new(bytes.Buffer), outputFor(t, out), nil,
			func(*Batch, *AddedValues) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `column "shop": the table has no such column`) {
			t.Errorf("%s: got error %v", out, err)
		}
	}
}

// An error in a typed table names the row, not a line.
func TestFaultNamesRow(t *testing.T) {
	t.Parallel()
	type row struct {
		ID string `parquet:"id"`
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeParquet(t, path, []row{{"a"}, {"b"}, {"c"}}, 2)
	f, err := ReadFrame(context.Background(), Files(path), Format{})
	if err != nil {
		t.Fatal(err)
	}
	f = f.Select([]int32{2, 1}, []int{0})
	if got := f.Fault(0, "id", "c", "bad", "").Error(); got != path+`, row 3, column "id", value "c": bad` || f.Place(1) != "row 2" {
		t.Errorf("got error %s and place %s, want row 3 and row 2", got, f.Place(1))
	}
}

// A typed table is rewritten as CSV.
func TestRewriteTyped(t *testing.T) {
	t.Parallel()
	type row struct {
		ID string  `parquet:"id"`
		X  *int32  `parquet:"x,optional"`
		Y  float64 `parquet:"a \"y\""`
	}
	x := int32(5)
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeParquet(t, path, []row{{"a,b", &x, 1.5}, {" c ", nil, 2}}, 5)
	var out bytes.Buffer
	err := rewriteFile(path, dataset.Schema{Target: "x", Modes: datasettest.Modes(t, "id")}, []*dataset.Dict{dataset.NewDict([]string{"c"})}, 1, &out,
		func(header []byte, delimiter byte) []byte { return append(slices.Clone(header), ",code"...) },
		func(b *Batch, dst []byte) ([]byte, error) {
			for i := range b.Len() {
				dst = fmt.Appendf(dst, "%s,%d %q %v\n", b.line(i), b.Codes[0][i], b.ID(0, i), b.Y[i])
			}
			return dst, nil
		})
	want := "id,x,\"a \"\"y\"\"\",code\n\"a,b\",5,1.5,-1 \"a,b\" 5\n\" c \",,2,0 \"c\" NaN\n"
	if err != nil || out.String() != want {
		t.Errorf("got %s, %v\nwant %s", out.String(), err, want)
	}
}

// The memory of a stream does not grow with the Parquet file.
func TestStreamMemory(t *testing.T) {
	type row struct {
		ID int64   `parquet:"id"`
		X  float64 `parquet:"x"`
		Z  float64 `parquet:"z"`
	}
	const n = 1 << 21 // 48 MB
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{int64(i % 100), float64(i), float64(-i)}
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeParquet(t, path, rows, n)
	rows = nil
	live := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	live() // the second collection empties pools
	before, most, seen := live(), 0, 0
	err := rewriteFile(path, dataset.Schema{Modes: datasettest.Modes(t, "id")}, []*dataset.Dict{dataset.NewDict(nil)}, 1, io.Discard,
		func([]byte, byte) []byte { return nil },
		func(b *Batch, dst []byte) ([]byte, error) {
			if seen += b.Len(); seen/columnar.BatchRows%8 == 4 {
				most = max(most, live()-before)
			}
			return dst, nil
		})
	if err != nil || seen != n {
		t.Fatalf("got %d rows, %v, want %d", seen, err, n)
	}
	const limit = 20 << 20
	if most == 0 || most > limit {
		t.Errorf("got %d bytes in use, want at most %d", most, limit)
	}
}

// Added columns alone, uncompressed, have the values that they have beside the table.
func TestAppendColumnsAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, text := sales(2001)
	schema := dataset.Schema{Modes: datasettest.Modes(t, "store")}
	dict := dataset.NewDict([]string{"store 3", "store 1"})
	for _, to := range []Output{{Format: "arrow", Compression: "none", AddedOnly: true}, {Format: "parquet", AddedOnly: true}} {
		var w bytes.Buffer
		err := AppendColumns(t.Context(), Reader("in.csv", strings.NewReader(text)), schema, []*dataset.Dict{dict}, Format{}, 2, &w, to, []AddedColumn{{Name: "code"}},
			func(b *Batch, v *AddedValues) error {
				for i, code := range b.Codes[0] {
					v.Numbers[0][i] = float32(code)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadFrame(t.Context(), Reader("out", &w), Format{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Names, []string{"code"}) || got.Len() != len(rows) {
			t.Fatalf("%s: got columns %q, %d rows", to.Format, got.Names, got.Len())
		}
		for i, row := range rows {
			code, known := dict.Code([]byte(row.Store))
			if !known {
				code = -1
			}
			if got.Columns[0][i] != strconv.Itoa(int(code)) {
				t.Fatalf("%s, row %d: got %s, want %d", to.Format, i, got.Columns[0][i], code)
			}
		}
	}
}
