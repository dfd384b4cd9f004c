package tableio

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// TestCovariatesDoNotIdentifyCells checks that rows that differ in a covariate only are
// of the same cell, and that a missing value of a covariate is an id.
func TestCovariatesDoNotIdentifyCells(t *testing.T) {
	t.Parallel()
	const text = "item,price,y\na,1,10\na,2,20\nb,,30\nc,NA,40\n"
	read := func(rule string) (*dataset.Table, error) {
		modes, err := dataset.ParseModes("item,number(price)")
		if err != nil {
			t.Fatal(err)
		}
		return Read(t.Context(), Reader("t.csv", strings.NewReader(text)), dataset.Schema{Target: "y", Modes: modes, Duplicates: rule}, Format{}, 1)
	}
	if _, err := read("error"); err == nil || !strings.Contains(err.Error(), "cell item=a already occurs") {
		t.Errorf("repeated cell: %v", err)
	}
	for rule, want := range map[string]struct {
		y     float32
		price string
	}{"sum": {30, "1"}, "mean": {15, "1"}, "last": {20, "2"}} {
		table, err := read(rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Dicts[1].ID(table.Codes[1][0]); table.Len() != 3 || table.Y[0] != want.y || got != want.price {
			t.Errorf("%s: %d rows, the first %v at price %s", rule, table.Len(), table.Y[0], got)
		}
		if ids := table.Dicts[1].IDs(); !slices.Equal(ids, []string{"1", "2", "NA"}) {
			t.Errorf("%s: ids %q", rule, ids)
		}
	}
}
