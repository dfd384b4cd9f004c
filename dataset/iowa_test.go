package dataset

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// dataFile returns the path of a file of the development data, or "" where that
// is not at hand.
func dataFile(name string) string {
	root := os.Getenv("KFT_DATA")
	if root == "" {
		root = "../../shared/data"
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

var iowaSchema = Schema{
	Target: "bottles",
	Modes:  []Mode{{Name: "store", Columns: []string{"store"}}, {Name: "item", Columns: []string{"item"}}, {Name: "time", Columns: []string{"year", "month"}}},
}

// plainIowa returns the path of the whole Iowa table as plain text, or of a
// synthetic one like it.
func plainIowa(tb testing.TB) string {
	path := filepath.Join(tb.TempDir(), "sales.csv")
	source := dataFile("iowa-liquor/sales_2015_2016.csv.gz")
	if source == "" {
		if err := os.WriteFile(path, BenchmarkText(300_000, 1), 0o600); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	in, err := os.Open(source)
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		tb.Fatal(err)
	}
	if err := out.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func writeGzip(tb testing.TB, path, text string) {
	var out strings.Builder
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestReadIowa(t *testing.T) {
	files, split := []string{dataFile("iowa-liquor/sales_2015_2016.csv.gz")}, dataFile("iowa-liquor/split.csv.gz")
	cells, sizes, parts := 3028076, []int{1507, 4563, 24}, []int{1816846, 605615, 605615}
	if files[0] == "" {
		dir := t.TempDir()
		files[0], split = filepath.Join(dir, "sales.csv.gz"), filepath.Join(dir, "split.csv.gz")
		writeGzip(t, files[0], string(BenchmarkText(3000, 1)))
		writeGzip(t, split, "part\n"+strings.Repeat("train\ntrain\ntrain\nvalid\ntest\n", 600))
		cells, sizes, parts = 3000, []int{41, 41, 2}, []int{1800, 600, 600}
	}
	table, err := Read(context.Background(), files, iowaSchema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != cells || table.Counts != (Counts{Rows: cells}) || table.Row != nil {
		t.Errorf("%d cells, counts %+v", table.Len(), table.Counts)
	}
	for m, want := range sizes {
		if got := table.Dicts[m].Len(); got != want {
			t.Errorf("mode %s has %d ids, want %d", table.Modes[m], got, want)
		}
	}
	spec, err := ParseSplit("file:" + split)
	if err != nil {
		t.Fatal(err)
	}
	applied, err := spec.Apply(table, 0)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range parts {
		if got := applied.Count(Part(p)); got != want {
			t.Errorf("%d cells are %v, want %d", got, Part(p), want)
		}
	}
}
