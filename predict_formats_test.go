package kft_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestPredictFormats checks that predictions in each output format contain the same
// columns as those in CSV.
func TestPredictFormats(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 1500)
	m, _ := fit(t, salesSpec(table), kft.Options{})
	dir := t.TempDir()
	predict := func(name string) *dataset.Frame {
		t.Helper()
		path := filepath.Join(dir, name)
		output, err := tableio.OutputFor(path)
		if err != nil {
			t.Fatal(err)
		}
		text := predictFile(t, m, table, kft.TableOptions{Output: output, Quantiles: []float64{.05, .95}, Samples: 2})
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		frame, err := tableio.ReadFrame(t.Context(), tableio.Files(path), tableio.Format{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return frame
	}
	want := predict("p.csv")
	for _, name := range []string{"p.csv.gz", "p.csv.zst", "p.parquet", "p.arrow"} {
		got := predict(name)
		if len(got.Names) != len(want.Names) || got.Len() != want.Len() {
			t.Fatalf("%s: got %d columns of %d rows, want %d of %d", name, len(got.Names), got.Len(), len(want.Names), want.Len())
		}
		for c, column := range got.Columns {
			for i, v := range column {
				if v != want.Columns[c][i] {
					t.Fatalf("%s: column %s, row %d: got %q, want %q", name, got.Names[c], i, v, want.Columns[c][i])
				}
			}
		}
	}
}
