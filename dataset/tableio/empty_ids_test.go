package tableio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// A few rows with an empty id are left out, with their weights and the ids that only they
// have, for any blocks and threads.
func TestEmptyIDs(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("store,day,y,w\n")
	for i := range 100 {
		store, day := fmt.Sprint("s", i%5), fmt.Sprint(i/5)
		switch i {
		case 17:
			store = ""
		case 60:
			store, day = "only here", " "
		}
		fmt.Fprintf(&b, "%s,%s,%d,%d\n", store, day, i, i+1)
	}
	file := datasettest.WriteFile(t, "t.csv", b.String())
	for _, threads := range []int{1, 3} {
		for _, block := range []int{16, 1 << 20} {
			p := &pipeline{source: Files(file), schema: dataset.Schema{Target: "y", Weight: "w", Modes: datasettest.Modes(t, "store,day")}, threads: threads, block: block}
			got, err := p.readTable(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != 98 || got.Counts.NoID != 2 || got.NoID != "line 19, column store" {
				t.Fatalf("got %d rows, %d without an id, the first at %q", got.Len(), got.Counts.NoID, got.NoID)
			}
			if ids := got.Dicts[0].IDs(); !slices.Equal(ids, []string{"s0", "s1", "s2", "s3", "s4"}) || got.Dicts[1].Len() != 20 {
				t.Errorf("got ids %q and %d days", ids, got.Dicts[1].Len())
			}
			for k := range got.Len() {
				row := got.SourceRow(k)
				if got.Target(k) != float64(row) || got.W[k] != float32(row+1) || got.Dicts[0].ID(got.Codes[0][k]) != fmt.Sprint("s", row%5) || got.Dicts[1].ID(got.Codes[1][k]) != fmt.Sprint(row/5) {
					t.Fatalf("observation %d of row %d has another row's values", k, row)
				}
			}
		}
	}
}

// Blocks of which every row has an empty id have no observations.
func TestBlocksOfEmptyIDs(t *testing.T) {
	t.Parallel()
	modes := datasettest.Modes(t, "store,day")
	read := func(file string, threads, block int) (*dataset.Table, error) {
		p := &pipeline{source: Files(file), schema: dataset.Schema{Target: "y", Modes: modes}, threads: threads, block: block}
		return p.readTable(t.Context())
	}
	var b strings.Builder
	b.WriteString("store,day,y\n")
	for i := range 1000 {
		store := fmt.Sprint("s", i%5)
		if 500 <= i && i < 540 {
			store = ""
		}
		fmt.Fprintf(&b, "%s,%d,%d\n", store, i/5, i)
	}
	few, all := datasettest.WriteFile(t, "few.csv", b.String()), datasettest.WriteFile(t, "all.csv", "store,day,y\n,1,2\n,2,3\n")
	for _, threads := range []int{1, 3} {
		for _, block := range []int{16, 100, 1 << 20} {
			got, err := read(few, threads, block)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != 960 || got.Counts.NoID != 40 {
				t.Errorf("%d threads, blocks of %d bytes: got %d rows and %d without an id, want 960 and 40", threads, block, got.Len(), got.Counts.NoID)
			}
			if _, err := read(all, threads, block); err == nil || !strings.Contains(err.Error(), "the id is empty here and in other rows, 2 of 2") {
				t.Errorf("%d threads, blocks of %d bytes: got the error %v for a table whose ids are all empty", threads, block, err)
			}
		}
	}
}
