package tableio

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/klauspost/compress/gzip"
)

var salesSchema = dataset.Schema{
	Target: "bottles",
	Modes:  []dataset.Mode{{Name: "store", Columns: []string{"store"}}, {Name: "item", Columns: []string{"item"}}, {Name: "time", Columns: []string{"year", "month"}}},
}

// plainIowa returns the path of the Iowa table as plain text, or of a similar
// synthetic table.
func plainIowa(tb testing.TB) string {
	path := filepath.Join(tb.TempDir(), "sales.csv")
	compressed := datasettest.DevelopmentFile("iowa-liquor/sales_2015_2016.csv.gz")
	if compressed == "" {
		if err := os.WriteFile(path, datasettest.SalesText(300_000, 1), 0o600); err != nil {
			tb.Fatal(err)
		}
		return path
	}
	in, err := os.Open(compressed)
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
