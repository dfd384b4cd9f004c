package bench

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

func TestMakeSales(t *testing.T) {
	for _, want := range []int{30_000, 300_000, 3_000_000} {
		s := makeSales(1507, 4563, 24, want)
		if have := len(s.y); math.Abs(float64(have)/float64(want)-1) > 0.05 {
			t.Errorf("got %d cells, want about %d", have, want)
		}
		for mode, codes := range s.codes {
			if len(codes) != len(s.y) {
				t.Fatalf("mode %d has %d codes for %d cells", mode, len(codes), len(s.y))
			}
			for _, c := range codes {
				if c < 0 || int(c) >= s.sizes[mode] {
					t.Fatalf("mode %d: got code %d, want less than %d", mode, c, s.sizes[mode])
				}
			}
		}
	}
}

// The synthetic table imitates one of 3.03 M cells in 49,668 pairs of item and
// month and 470,482 of store and item, which determine the cost of a pass.
func TestMakeSalesHasTheShapeOfRealSales(t *testing.T) {
	s := makeSales(1507, 4563, 24, 3_028_076)
	itemMonth, storeItem := map[[2]int32]bool{}, map[[2]int32]bool{}
	for k := range s.y {
		itemMonth[[2]int32{s.codes[1][k], s.codes[2][k]}] = true
		storeItem[[2]int32{s.codes[0][k], s.codes[1][k]}] = true
	}
	if n := len(itemMonth); math.Abs(float64(n)/49_668-1) > 0.1 {
		t.Errorf("got %d pairs of item and month, want about 49,668", n)
	}
	if n := len(storeItem); math.Abs(float64(n)/470_482-1) > 0.1 {
		t.Errorf("got %d pairs of store and item, want about 470,482", n)
	}
}

func TestTextMatchesTable(t *testing.T) {
	s := makeSales(40, 50, 12, 2000)
	s.sort()
	s.write()
	read := func(text []byte) *dataset.Table {
		file := filepath.Join(t.TempDir(), "sales.csv")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		schema, err := s.schema()
		if err != nil {
			t.Fatal(err)
		}
		table, err := tableio.Read(t.Context(), tableio.Files(file), schema, tableio.Format{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	table := read(s.text) // rejects duplicate cells
	if table.Len() != len(s.y) {
		t.Fatalf("got %d rows, want %d", table.Len(), len(s.y))
	}
	// Codes are assigned in a different order; equal ones must stay equal.
	for mode, codes := range s.codes {
		to := map[int32]int32{}
		for k, code := range codes {
			other, ok := to[code]
			if ok && other != table.Codes[mode][k] || s.y[k] != table.Y[k] {
				t.Fatalf("row %d differs in mode %d", k, mode)
			}
			to[code] = table.Codes[mode][k]
		}
	}

	small := s.sample(100)
	if n := bytes.Count(small, []byte("\n")) - 1; n >= len(s.y) {
		t.Errorf("got a sample of %d rows, want fewer than %d", n, len(s.y))
	}
	sample := read(small)
	for mode, d := range sample.Dicts {
		if d.Len() != table.Dicts[mode].Len() {
			t.Errorf("mode %d: got %d ids in the sample, want %d", mode, d.Len(), table.Dicts[mode].Len())
		}
	}
}
