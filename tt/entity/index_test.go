package entity

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// An index without modes has one entity, of all cells.
func TestIndexWithoutModes(t *testing.T) {
	x, err := NewAxisIndex(1, nil, [][]int32{{3, 1, 2}})
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

// Combinations have the order of their first rows, however they are found.
func TestCombinationsOfThreads(t *testing.T) {
	t.Parallel()
	const rows = rowsTogether + 3*parallel.Block
	for name, sizes := range map[string][]int{"bits": {300, 2000}, "hash": {1 << 20, 1 << 20}} {
		rng := rand.New(rand.NewPCG(1, 2))
		codes := make([][]int32, 2)
		for range rows {
			a := int32(rng.IntN(300)) - 1 // some are unknown
			codes[0], codes[1] = append(codes[0], a), append(codes[1], int32(rng.IntN(1500)))
		}
		var want []int32
		seen := map[[2]int32]bool{}
		for i, a := range codes[0] {
			if pair := [2]int32{a, codes[1][i]}; a >= 0 && !seen[pair] {
				seen[pair] = true
				want = append(want, pair[0], pair[1])
			}
		}
		for _, threads := range []int{1, 2, 7, 16} {
			x, err := NewAxisIndex(threads, Axes([]int{0, 1}, sizes), codes)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(x.Combinations(), want) {
				t.Errorf("%s, %d threads: got other combinations than those of the rows in their order", name, threads)
			}
		}
	}
}
