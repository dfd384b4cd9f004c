package tableio

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// A store is the same one in a file that writes 12 and in one that writes 12.0, for any number of
// threads. Decimals and numbers with leading zeros are other ids.
func TestWholeNumbersAreOneID(t *testing.T) {
	t.Parallel()
	var first, second strings.Builder
	first.WriteString("store,item,units\n")
	second.WriteString("store,item,units\n")
	for i := range 3000 {
		fmt.Fprintf(&first, "%d,%d,%d\n", 1+i%12, i/12, i%7)
		fmt.Fprintf(&second, "%d.0,%d,%d\n", 1+i%12, 1000+i/12, i%7)
	}
	names := []string{datasettest.WriteFile(t, "a.csv", first.String()), datasettest.WriteFile(t, "b.csv", second.String())}
	files := Files(append(names, datasettest.WriteFile(t, "c.csv", "store,item,units\n012,5000,1\n1.5,5000,2\n"))...)
	schema := dataset.Schema{Target: "units", Modes: datasettest.Modes(t, "store,item")}
	for _, threads := range []int{1, 4} {
		table, err := Read(context.Background(), files, schema, Format{}, threads)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "012", "1.5"}
		if got := table.Dicts[0].IDs(); !slices.Equal(got, want) {
			t.Errorf("%d threads: got the ids %q, want %q", threads, got, want)
		}
		if !slices.Equal(table.Codes[0][:3000], table.Codes[0][3000:6000]) {
			t.Errorf("%d threads: the rows of the second file have other codes", threads)
		}
	}
	g, err := GuessColumns(Files(names...), Format{})
	if err != nil || !slices.Equal(g.Modes, []string{"store", "item"}) {
		t.Errorf("got the modes %q, %v", g.Modes, err)
	}
}
