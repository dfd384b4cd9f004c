package kft_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// TestWideOutput checks that predictions of a target far from 0 are not rounded to 32
// bits in Parquet and Arrow files.
func TestWideOutput(t *testing.T) {
	t.Parallel()
	for _, scale := range []string{"identity", "log1p", "power:0.5"} {
		t.Run(scale, func(t *testing.T) { testWideOutput(t, scale) })
	}
}

func testWideOutput(t *testing.T, scale string) {
	table := writeFile(t, "table.csv", unitTable(1e3, 1e9))
	m, _ := fit(t, kft.Spec{
		Version: 1, Transform: scale,
		Data:  kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"store", "item", "month"}},
		Terms: []string{"store,item,month:2"}, Fit: kft.FitSpec{Sweeps: 3},
	}, kft.Options{})
	want := predictCells(t, m, kft.Cell{"store": "s0", "item": "i0", "month": "0"})[0]
	for _, format := range []string{"parquet", "arrow"} {
		var out bytes.Buffer
		if _, err := m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{Output: tableio.Output{Format: format}, Samples: 1}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "out."+format)
		if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		frame, err := tableio.ReadFrame(t.Context(), kft.Files(path), tableio.Format{})
		if err != nil {
			t.Fatal(err)
		}
		at, err := frame.Find("prediction")
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := dataset.Number(frame.Columns[at][0]); math.Abs(got-want.Mean) > 1e-3 {
			t.Errorf("%s: got %.4f, want %.4f", format, got, want.Mean)
		}
	}
}
