package kft_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Predictions written in any form hold the same columns, and a table in any
// form is read and predicted alike.
func TestPredictFormats(t *testing.T) {
	table := writeSales(t, 1500)
	m, _ := fitSales(t, salesSpec(table), kft.Options{})
	dir := t.TempDir()
	predict := func(from, to string) string {
		t.Helper()
		var out bytes.Buffer
		path := filepath.Join(dir, to)
		output, err := tableio.OutputFor(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.PredictTable(context.Background(), kft.Files(from), &out, kft.TableOptions{Output: output, Quantiles: []float64{.05, .95}, Samples: 2}); err != nil {
			t.Fatalf("%s: %v", to, err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	want, err := tableio.ReadFrame(context.Background(), tableio.Files(predict(table, "p.csv")), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p.csv.gz", "p.csv.zst", "p.parquet", "p.arrow"} {
		got, err := tableio.ReadFrame(context.Background(), tableio.Files(predict(table, name)), tableio.Format{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got.Names) != len(want.Names) || got.Len() != want.Len() {
			t.Fatalf("%s: %d columns of %d rows, want %d of %d", name, len(got.Names), got.Len(), len(want.Names), want.Len())
		}
		for c, column := range got.Columns {
			for i, v := range column {
				if v != want.Columns[c][i] {
					t.Fatalf("%s: column %s, row %d is %q, want %q", name, got.Names[c], i, v, want.Columns[c][i])
				}
			}
		}
	}
}
