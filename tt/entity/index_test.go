package entity

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

// An index that has more combinations than before may keep them in another way; it finds all of them, and the one that
// it came from is as before.
func TestIndexExtend(t *testing.T) {
	t.Parallel()
	const size = 40
	pairs := func(step int) [][]int32 {
		codes := make([][]int32, 2)
		for c := 0; c < size*size; c += step {
			codes[0], codes[1] = append(codes[0], int32(c/size)), append(codes[1], int32(c%size))
		}
		return codes
	}
	few, many := pairs(16), pairs(2) // a hash table, then an array
	x, err := NewIndex([]int{0, 1}, []int{size, size}, few)
	if err != nil {
		t.Fatal(err)
	}
	many[0], many[1] = append(many[0], -1, 3), append(many[1], 0, -1) // unknown codes
	want := x.Combinations()
	for _, threads := range []int{1, 4} {
		more, err := x.Extend(threads, many)
		if err != nil {
			t.Fatal(err)
		}
		if got := more.Combinations(); !slices.Equal(got[:len(want)], want) || len(got) != size*size {
			t.Fatalf("got %d codes, want %d, the first as before", len(got), size*size)
		}
		for row := range len(many[0]) - 2 {
			combination := more.Combinations()[2*more.Entity(many, row):][:2]
			if combination[0] != many[0][row] || combination[1] != many[1][row] {
				t.Fatalf("row %d: got %v, want %d and %d", row, combination, many[0][row], many[1][row])
			}
		}
		if !slices.Equal(x.Combinations(), want) {
			t.Fatal("the index changed")
		}
	}
}
