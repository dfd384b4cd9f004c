package tt

import (
	"slices"
	"testing"
)

// An index without modes has one entity, of all cells.
func TestIndexWithoutModes(t *testing.T) {
	x, err := NewAxisIndex(nil, [][]int32{{3, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	got := []int32{9, 9, 9}
	x.Lookup(got, [][]int32{{3, 1, 2}})
	if x.Entities() != 2 || !slices.Equal(got, []int32{0, 0, 0}) {
		t.Errorf("got entities %v of %d, want 0 for all cells, of 2", got, x.Entities())
	}
}
