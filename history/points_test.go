package history

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
)

// The point of a row to predict is that of the same numbers in the fit, also of a number whose place on the grid is the
// centre of a bin. The codes of the caller stay as they are.
func TestPointsOfRowsToPredict(t *testing.T) {
	t.Parallel()
	const rows = 2000
	rng := rand.New(rand.NewPCG(6, 6))
	table := &dataset.Table{Y: make([]float32, rows), Codes: make([][]int32, 2)}
	var values [2][]string
	for m, name := range []string{"a", "b"} {
		for k := range rows {
			values[m] = append(values[m], strconv.FormatFloat(rng.NormFloat64(), 'f', 9, 64))
			table.Codes[m] = append(table.Codes[m], int32(k))
		}
		mode, err := dataset.ParseMode("number(" + name + ")")
		if err != nil {
			t.Fatal(err)
		}
		table.Modes, table.Dicts = append(table.Modes, mode), append(table.Dicts, dataset.NewDict(slices.Clone(values[m])))
	}
	if err := covariate.Encode(table, "table", dataset.NumberFormat{}); err != nil {
		t.Fatal(err)
	}
	if err := covariate.AddPoints(table, dataset.LinearMode([]string{"a", "b"})); err != nil {
		t.Fatal(err)
	}
	e := NewEncoder(table.Modes, table.Dicts, nil, dataset.NumberFormat{})
	given := [][]int32{slices.Repeat([]int32{unknown}, rows), slices.Repeat([]int32{unknown}, rows)}
	codes, id, failed := e.Encode(given, func(mode, row int) string { return values[mode][row] })
	if failed != nil {
		t.Fatal(failed)
	}
	for k := range rows {
		if want := table.Dicts[2].ID(table.Codes[2][k]); id(2, k) != want || codes[2][k] != table.Codes[2][k] {
			t.Fatalf("row %d: got the point %s, want %s", k, id(2, k), want)
		}
		if given[0][k] != unknown {
			t.Fatalf("row %d: the given code became %d", k, given[0][k])
		}
	}
}
