package dataset

import (
	"slices"
	"testing"
)

func TestNewColumns(t *testing.T) {
	t.Parallel()
	c, err := NewColumns(IntColumn("store", []int32{7, 8}), StringColumn("item", []string{"a", "b"}), FloatColumn("y", []float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 2 || !slices.Equal(c.Names(), []string{"store", "item", "y"}) || !slices.Equal(c.Column(0).Ints, []int64{7, 8}) {
		t.Errorf("got %d rows, columns %q, first column %v; want 2 rows, store, item, y, [7 8]", c.Len(), c.Names(), c.Column(0).Ints)
	}
	for _, tc := range []struct {
		columns []Column
		want    string
	}{
		{nil, "columns in memory: the table has no columns; give at least one column"},
		{[]Column{IntColumn("a", []int{1}), IntColumn("", []int{1})}, "columns in memory: column 2 has no name; name it"},
		{[]Column{IntColumn("a", []int{1}), FloatColumn("a", []float64{1})}, `columns in memory, column "a": two columns have this name; rename one of them`},
		{[]Column{IntColumn("a", []int{1}), IntColumn("b", []int{1, 2})}, `columns in memory, column "b": the column has 2 rows, but column "a" has 1; give columns of the same length`},
		{[]Column{{Name: "a"}}, `columns in memory, column "a": the column has values of 0 types; make it with StringColumn, IntColumn or FloatColumn`},
		{[]Column{{Name: "a", Ints: []int64{1}, Floats: []float64{1}}}, `columns in memory, column "a": the column has values of 2 types; make it with StringColumn, IntColumn or FloatColumn`},
	} {
		if _, err := NewColumns(tc.columns...); err == nil || err.Error() != tc.want {
			t.Errorf("got error %v, want %s", err, tc.want)
		}
	}
}
