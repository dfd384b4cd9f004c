package dataset

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// BenchmarkRead reads the plain Iowa table on two threads and, in the same run,
// with encoding/csv (fields only); x_csv is the ratio of the best times.
func BenchmarkRead(b *testing.B) {
	path := plainIowa(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	oracle, own := time.Duration(1<<62), time.Duration(1<<62)
	for range 2 {
		start := time.Now()
		readWithCSV(b, path)
		oracle = min(oracle, time.Since(start))
	}
	for b.Loop() {
		start := time.Now()
		if _, err := Read(context.Background(), []string{path}, iowaSchema, Format{}, 2); err != nil {
			b.Fatal(err)
		}
		own = min(own, time.Since(start))
	}
	megabytes := float64(info.Size()) / 1e6
	b.ReportMetric(megabytes/own.Seconds(), "MB/s")
	b.ReportMetric(megabytes/oracle.Seconds(), "csv-MB/s")
	b.ReportMetric(oracle.Seconds()/own.Seconds(), "x_csv")
}

func readWithCSV(tb testing.TB, path string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkReadGzip is the same from the compressed file.
func BenchmarkReadGzip(b *testing.B) {
	path := dataFile("iowa-liquor/sales_2015_2016.csv.gz")
	if path == "" {
		path = filepath.Join(b.TempDir(), "sales.csv.gz")
		writeGzip(b, path, string(BenchmarkText(300_000, 1)))
	}
	for b.Loop() {
		if _, err := Read(context.Background(), []string{path}, iowaSchema, Format{}, 2); err != nil {
			b.Fatal(err)
		}
	}
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
		cells, sizes, parts = 3000, []int{40, 38, 2}, []int{1800, 600, 600}
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
