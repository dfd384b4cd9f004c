package dataset

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The functions that detect distinct cells are compared with a map of the cells.
func TestDistinct(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 0))
	proven, nested := 0, 0
	for trial := range 400 {
		sizes := []int{1 + r.IntN(5), 1 + r.IntN(8), 1 + r.IntN(30)}[:1+r.IntN(3)]
		table := &Table{}
		for _, n := range sizes {
			table.Dicts = append(table.Dicts, &Dict{ids: make([]string, n)})
			table.Codes = append(table.Codes, nil)
		}
		cells := [][3]int32{}
		for range 1 + r.IntN(60) {
			var cell [3]int32
			for m, n := range sizes {
				cell[m] = int32(r.IntN(n))
			}
			cells = append(cells, cell)
		}
		if r.IntN(3) > 0 { // sorted
			slices.SortFunc(cells, func(a, b [3]int32) int { return slices.Compare(a[:], b[:]) })
		}
		if r.IntN(2) > 0 {
			cells = slices.Compact(cells)
		}
		seen := map[[3]int32]bool{}
		for _, cell := range cells {
			seen[cell] = true
			table.Y = append(table.Y, 1)
			for m := range sizes {
				table.Codes[m] = append(table.Codes[m], cell[m])
			}
		}
		distinct := len(seen) == len(cells)
		order := table.slowestFirst()
		for workers := 1; workers <= 5; workers++ {
			if table.distinctNested(order, workers) {
				if nested++; !distinct {
					t.Fatalf("trial %d, %d workers: distinctNested overlooks a repeated cell in %v", trial, workers, cells)
				}
			}
			runs := table.distinctInRuns(order, workers)
			if runs && !distinct {
				t.Fatalf("trial %d, %d workers: distinctInRuns overlooks a repeated cell in %v", trial, workers, cells)
			}
			if runs {
				proven++
			}
			if got := table.distinctInBitmap(order, workers); got != distinct {
				t.Fatalf("trial %d, %d workers: distinctInBitmap returns %t, want %t, for %v", trial, workers, got, distinct, cells)
			}
			if got := len(table.repeats(workers)); got != len(cells)-len(seen) {
				t.Fatalf("trial %d, %d workers: got %d repeats, want %d", trial, workers, got, len(cells)-len(seen))
			}
		}
	}
	if proven < 200 || nested < 100 {
		t.Errorf("distinctInRuns and distinctNested proved %d and %d tables distinct, want at least 200 and 100", proven, nested)
	}
}
