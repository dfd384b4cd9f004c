package model

import (
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	modes, sizes := []string{"store", "item", "time"}, []int{4, 6, 3}
	codes := [][]int32{{0, 1, 1, 3}, {0, 0, 5, 5}, {0, 1, 2, 0}} // store 2 has no rows
	var terms []Term
	for _, text := range []string{"store,item,time:2", "store*item,time:7", "item"} {
		term, err := ParseTerm(text, modes)
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, term)
	}
	f, notices, err := Build(terms, modes, sizes, codes)
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "3") {
		t.Errorf("notices %q: rank 7 is capped at 3 months", notices)
	}
	var shapes []int
	for _, term := range f.Terms {
		for _, c := range term.Cores {
			shapes = append(shapes, c.Slices.Left, c.Slices.N, c.Slices.Right)
		}
	}
	want := []int{1, 4, 2, 2, 3, 2, 2, 4, 1 /**/, 1, 5, 3, 3, 4, 1 /**/, 1, 3, 1}
	for i := range want {
		if len(shapes) != len(want) || shapes[i] != want[i] {
			t.Fatalf("shapes %v, want %v", shapes, want)
		}
	}
	if f.Terms[0].Cores[1].Index != f.Terms[2].Cores[0].Index {
		t.Error("equal cores do not share their index")
	}
}
