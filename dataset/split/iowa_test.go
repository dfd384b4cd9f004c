package split

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

func TestReadIowa(t *testing.T) {
	t.Parallel()
	files, partFile := []string{datasettest.DevelopmentFile("iowa-liquor/sales_2015_2016.csv.gz")}, datasettest.DevelopmentFile("iowa-liquor/split.csv.gz")
	cells, sizes, parts := 3028076, []int{1507, 4563, 24}, []int{1816846, 605615, 605615}
	if files[0] == "" {
		dir := t.TempDir()
		files[0], partFile = filepath.Join(dir, "sales.csv.gz"), filepath.Join(dir, "split.csv.gz")
		datasettest.WriteGzip(t, files[0], string(datasettest.SalesText(3000, 1)))
		datasettest.WriteGzip(t, partFile, "part\n"+strings.Repeat("train\ntrain\ntrain\nvalid\ntest\n", 600))
		cells, sizes, parts = 3000, []int{41, 41, 2}, []int{1800, 600, 600}
	}
	table, err := tableio.Read(context.Background(), tableio.Files(files...), salesSchema, tableio.Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != cells || table.Counts != (dataset.Counts{Rows: cells}) || table.Row != nil {
		t.Errorf("got %d cells, counts %+v, want %d cells", table.Len(), table.Counts, cells)
	}
	for m, want := range sizes {
		if got := table.Dicts[m].Len(); got != want {
			t.Errorf("mode %s has %d ids, want %d", table.Modes[m], got, want)
		}
	}
	spec, err := Parse("file:" + partFile)
	if err != nil {
		t.Fatal(err)
	}
	applied, err := spec.Apply(table, 0)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range parts {
		if got := applied.Count(dataset.Part(p)); got != want {
			t.Errorf("part %v has %d cells, want %d", dataset.Part(p), got, want)
		}
	}
}
