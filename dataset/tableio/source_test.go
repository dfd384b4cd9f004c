package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/klauspost/compress/gzip"
)

type visit struct {
	Shop   int64    `parquet:"shop"`
	Item   string   `parquet:"item"`
	Year   int64    `parquet:"year"`
	Month  int64    `parquet:"month"`
	When   string   `parquet:"when"`
	Sold   *float64 `parquet:"sold,optional"`
	Weight float64  `parquet:"weight"`
	Part   string   `parquet:"part"`
}

const visitModes = "shop,item,time=year+month,hour(when)"

// visits returns the same table as CSV text, as columns in memory and as rows of a
// Parquet file. Cells repeat, targets are missing and some weights are 0.
func visits(tb testing.TB, n int) (string, *dataset.Columns, []visit) {
	r := rand.New(rand.NewPCG(7, 0))
	var text strings.Builder
	text.WriteString("shop,item,year,month,when,sold,weight,part\n")
	var rows []visit
	for range n {
		v := visit{
			Shop: r.Int64N(40) - 3, Item: fmt.Sprintf("item %d", r.IntN(90)), Year: 2015 + r.Int64N(2), Month: 1 + r.Int64N(12),
			When: fmt.Sprintf("2016-12-%02d %d:30", 1+r.IntN(31), r.IntN(24)), Weight: float64(r.IntN(8)) / 4,
		}
		v.Part = []string{"train", "valid", "test", "unused"}[(v.Shop+3)%4] // equal for all rows of a cell
		if r.IntN(10) == 0 {
			v.Item = "a longer item, with a comma"
		}
		sold := ""
		if r.IntN(9) > 0 {
			value := float64(r.IntN(100_000)-500) / 32
			v.Sold, sold = &value, strconv.FormatFloat(value, 'g', -1, 64)
		}
		rows = append(rows, v)
		fmt.Fprintf(&text, "%d,%q,%d,%d,%s,%s,%g,%s\n", v.Shop, v.Item, v.Year, v.Month, v.When, sold, v.Weight, v.Part)
	}
	column := func(f func(v visit) string) []string {
		values := make([]string, n)
		for i, v := range rows {
			values[i] = f(v)
		}
		return values
	}
	shops, years, months := make([]int64, n), make([]int, n), make([]int32, n)
	solds, weights := make([]float64, n), make([]float64, n)
	for i, v := range rows {
		shops[i], years[i], months[i], weights[i] = v.Shop, int(v.Year), int32(v.Month), v.Weight
		solds[i] = math.NaN()
		if v.Sold != nil {
			solds[i] = *v.Sold
		}
	}
	columns, err := dataset.NewColumns(
		dataset.IntColumn("shop", shops), dataset.StringColumn("item", column(func(v visit) string { return v.Item })),
		dataset.IntColumn("year", years), dataset.IntColumn("month", months),
		dataset.StringColumn("when", column(func(v visit) string { return v.When })), dataset.FloatColumn("sold", solds),
		dataset.FloatColumn("weight", weights), dataset.StringColumn("part", column(func(v visit) string { return v.Part })))
	if err != nil {
		tb.Fatal(err)
	}
	return text.String(), columns, rows
}

// visitSources returns constructors of sources with the same content.
func visitSources(t *testing.T, n int) map[string]func() Source {
	text, columns, rows := visits(t, n)
	dir := t.TempDir()
	csv, pq := datasettest.WriteFile(t, filepath.Join(dir, "t.csv"), text), filepath.Join(dir, "t.parquet")
	writeParquet(t, pq, rows, n)
	parquetBytes, err := os.ReadFile(pq)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]func() Source{
		"CSV file":            func() Source { return Files(csv) },
		"Parquet file":        func() Source { return Files(pq) },
		"columns":             func() Source { return Columns(columns) },
		"reader of CSV":       func() Source { return Reader("r", iotest.HalfReader(strings.NewReader(text))) },
		"reader of gzip":      func() Source { return Reader("r", bytes.NewReader(zipped.Bytes())) },
		"reader of Parquet":   func() Source { return Reader("r", bytes.NewReader(parquetBytes)) },
		"strings for numbers": func() Source { return Columns(asStrings(t, text)) },
	}
}

// asStrings returns a CSV table as columns of strings.
func asStrings(tb testing.TB, text string) *dataset.Columns {
	f, err := ReadFrame(context.Background(), Reader("text", strings.NewReader(text)), Format{})
	if err != nil {
		tb.Fatal(err)
	}
	var columns []dataset.Column
	for c, name := range f.Names {
		columns = append(columns, dataset.StringColumn(name, f.Columns[c]))
	}
	all, err := dataset.NewColumns(columns...)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// Every source of the same table gives the same observations.
func TestSourcesGiveEqualTables(t *testing.T) {
	t.Parallel()
	n := columnar.BatchRows + 3000
	schema := dataset.Schema{Target: "sold", Weight: "weight", Part: "part", Modes: datasettest.Modes(t, visitModes), Duplicates: "mean"}
	sources := visitSources(t, n)
	want, err := Read(t.Context(), sources["CSV file"](), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want.Counts.Missing == 0 || want.Counts.ZeroWeight == 0 || want.Counts.Merged == 0 {
		t.Fatalf("the test needs missing targets, zero weights and repeated cells, but has %+v", want.Counts)
	}
	for name, source := range sources {
		hashes := map[[32]byte]bool{}
		for _, threads := range []int{1, 3} {
			got, err := Read(t.Context(), source(), schema, Format{}, threads)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			t.Run(name, func(t *testing.T) { sameTable(t, got, want) })
			hashes[got.Hash] = true
		}
		if len(hashes) != 1 {
			t.Errorf("%s: the hash depends on the number of threads", name)
		}
	}
}

// The content of columns in memory determines the hash.
func TestHashOfColumns(t *testing.T) {
	t.Parallel()
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}
	hash := func(ids []string, y []float64) [32]byte {
		columns, err := dataset.NewColumns(dataset.StringColumn("id", ids), dataset.FloatColumn("y", y))
		if err != nil {
			t.Fatal(err)
		}
		table, err := Read(t.Context(), Columns(columns), schema, Format{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return table.Hash
	}
	base := hash([]string{"a", "b"}, []float64{1, 2})
	if hash([]string{"a", "b"}, []float64{1, 2}) != base {
		t.Error("equal columns have different hashes")
	}
	if hash([]string{"a", "c"}, []float64{1, 2}) == base || hash([]string{"a", "b"}, []float64{1, 3}) == base {
		t.Error("different columns have the same hash")
	}
}

// Frames, batches and extended tables are also the same for every source.
func TestSourcesStreamEqually(t *testing.T) {
	t.Parallel()
	sources := visitSources(t, 3000)
	schema := dataset.Schema{Target: "sold", Weight: "weight", Modes: datasettest.Modes(t, visitModes)}
	var dicts []*dataset.Dict
	for _, ids := range [][]string{{"3", "-1"}, {"item 7", "a longer item, with a comma"}, {"2015-1", "2016-12"}, {"0", "23"}} {
		dicts = append(dicts, dataset.NewDict(ids))
	}
	type streamed struct {
		frame *dataset.Frame
		codes []int32
		y, w  []float32
		text  string
	}
	stream := func(source func() Source) (s streamed, err error) {
		if s.frame, err = ReadFrame(t.Context(), source(), Format{}); err != nil {
			return s, err
		}
		s.codes, s.y, s.w = make([]int32, 4*3000), make([]float32, 3000), make([]float32, 3000)
		var mutex sync.Mutex
		err = VisitBatches(t.Context(), source(), schema, dicts, Format{}, 2, func(b *Batch) error {
			mutex.Lock()
			defer mutex.Unlock()
			copy(s.y[b.First:], b.Y)
			copy(s.w[b.First:], b.W)
			for m, codes := range b.Codes {
				copy(s.codes[m*3000+b.First:], codes)
			}
			return nil
		})
		if err != nil {
			return s, err
		}
		var out bytes.Buffer
		err = AppendColumns(t.Context(), source(), schema, dicts, Format{}, 2, &out, Output{Delimiter: ';'}, []AddedColumn{{Name: "code"}},
			func(b *Batch, values *AddedValues) error {
				for i, code := range b.Codes[1] {
					values.Numbers[0][i] = float32(code)
				}
				return nil
			})
		s.text = out.String()
		return s, err
	}
	want, err := stream(sources["CSV file"])
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range sources {
		got, err := stream(source)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(got.codes, want.codes) || !slices.Equal(got.w, want.w) || !slices.EqualFunc(got.y, want.y, sameFloat) {
			t.Errorf("%s: the batches differ from those of the CSV file", name)
		}
		if !slices.Equal(got.frame.Names, want.frame.Names) || !slices.EqualFunc(got.frame.Columns, want.frame.Columns, slices.Equal[[]string]) {
			t.Errorf("%s: the frame differs from that of the CSV file", name)
		}
		if got.text != want.text {
			t.Errorf("%s: the extended table starts with\n%.200s\nwant\n%.200s", name, got.text, want.text)
		}
	}
}

func sameFloat(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// Errors name the source and, for columns, the row.
func TestSourceErrors(t *testing.T) {
	t.Parallel()
	columns := func(columns ...dataset.Column) Source {
		c, err := dataset.NewColumns(columns...)
		if err != nil {
			t.Fatal(err)
		}
		return Columns(c)
	}
	ids := dataset.StringColumn("id", []string{"a", "b", "a"})
	ys := dataset.FloatColumn("y", []float64{1, 2, 3})
	infinite := dataset.FloatColumn("y", []float64{1, math.Inf(1), 3})
	for _, tc := range []struct {
		name   string
		source Source
		modes  string
		want   string
		field  string
	}{
		{"infinite target", columns(ids, infinite), "id",
			`columns in memory, row 2, column "y", value "+Inf": this number is not finite; fix it, or use NaN, or an empty string in a column of strings, if the target is missing`, "data.target"},
		{"large target", columns(ids, dataset.FloatColumn("y", []float64{1, 2, -1e300})), "id",
			`columns in memory, row 3, column "y", value "-1e+300": this number exceeds the range of 32-bit numbers; fix it, or use NaN, or an empty string in a column of strings, if the target is missing`, "data.target"},
		{"repeated cell", columns(ids, ys), "id",
			`columns in memory, row 3: cell id=a already occurs in row 1 (1 repeated row in total); set data.duplicates to sum, mean, last or keep`, "data.duplicates"},
		{"missing id", columns(dataset.StringColumn("id", []string{"a", " ", "c"}), ys), "id",
			`columns in memory, row 2, column "id": the id is empty, so the row belongs to no cell; fill it in or remove the row`, "data.modes"},
		{"missing float id", columns(dataset.FloatColumn("id", []float64{1, 2.5, math.NaN()}), ys), "id",
			`columns in memory, row 3, column "id": the id is empty, so the row belongs to no cell; fill it in or remove the row`, "data.modes"},
		{"unknown column", columns(ids, ys), "store",
			`columns in memory, column "store": the table has no such column; choose one of id, y`, "data.modes"},
		{"unknown target", columns(ids, dataset.FloatColumn("yy", []float64{1, 2, 3})), "id",
			`columns in memory, column "y": the table has no such column (did you mean "yy"?); choose one of id, yy`, "data.target"},
		{"no rows", columns(dataset.StringColumn("id", nil), dataset.FloatColumn("y", nil)), "id",
			`columns in memory: the table has no rows; give at least one row`, ""},
		{"reader", Reader("the upload", strings.NewReader("id,y\na,x\n")), "id",
			`the upload, line 2, column "y", value "x": this is not a number; fix it, or leave it empty or write NA if the target is missing`, "data.target"},
		{"limit of detection", Reader("the upload", strings.NewReader("id,y\na,< 0.5\n")), "id",
			`the upload, line 2, column "y", value "< 0.5": this is a limit, not a number; write a number in its place, such as half of the limit; predictions would be too high without these rows`, "data.target"},
		{"value beyond a range", Reader("the upload", strings.NewReader("id,y\na,≥100\n")), "id",
			`the upload, line 2, column "y", value "≥100": this is a limit, not a number; write the limit itself as the target, and yes in a column that is named as data.censored`, "data.target"},
		{"reader named like standard input", Reader("-", strings.NewReader("id,y\n")), "id",
			`standard input: the table has a header but no rows; give at least one row`, ""},
		{"nil reader", Reader("the upload", nil), "id", `the upload: the reader is nil; give a reader of the table`, ""},
		{"failing reader", Reader("the upload", iotest.ErrReader(errors.New("connection reset"))), "id",
			`the upload, line 1: connection reset; check the file and its disk`, ""},
		{"failing reader of Parquet", Reader("the upload", io.MultiReader(strings.NewReader("PAR1 and more"), iotest.ErrReader(errors.New("connection reset")))), "id",
			`the upload: connection reset; check the input`, ""},
	} {
		_, err := Read(t.Context(), tc.source, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, tc.modes)}, Format{}, 2)
		var input *dataset.InputError
		if !errors.As(err, &input) || err.Error() != tc.want || input.FieldPath() != tc.field {
			t.Errorf("%s: got error\n%v\nwant, about field %q,\n%s", tc.name, err, tc.field, tc.want)
		}
	}
}

// A reader can be read once.
func TestReaderReadTwice(t *testing.T) {
	t.Parallel()
	source := Reader("the upload", strings.NewReader("id,y\na,1\n"))
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}
	for i, want := range []string{"<nil>", "the upload: the reader was already read; give a new reader for each call"} {
		if _, err := Read(t.Context(), source, schema, Format{}, 1); fmt.Sprint(err) != want {
			t.Errorf("read %d: got error %v, want %s", i+1, err, want)
		}
	}
}

// Several sources are one table.
func TestConcat(t *testing.T) {
	t.Parallel()
	columns, err := dataset.NewColumns(dataset.FloatColumn("y", []float64{3, math.NaN()}), dataset.IntColumn("id", []int{7, 8}))
	if err != nil {
		t.Fatal(err)
	}
	source := Concat(Reader("r", strings.NewReader("id,y\n6,1\n7,2\n")), Columns(columns))
	table, err := Read(t.Context(), source, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Duplicates: "sum"}, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cells(table), []string{"6:0 1 row0", "7:1 5 row1"}; !slices.Equal(got, want) {
		t.Errorf("got cells %q, want %q", got, want)
	}
	if got, want := source.String(), "r, columns in memory"; got != want {
		t.Errorf("got name %q, want %q", got, want)
	}
}
