package design

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

func TestField(t *testing.T) {
	t.Parallel()
	modes, sizes := []string{"store", "item", "time"}, []int{4, 6, 3}
	codes := [][]int32{{0, 1, 1, 3}, {0, 0, 5, 5}, {0, 1, 2, 0}} // store 2 has no rows
	var terms []spec.Term
	for _, text := range []string{"store,item,time:2", "store*item,time:7", "item"} {
		term, err := spec.ParseTerm(text, modes)
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, term)
	}
	f, notices, err := Field(terms, Data{Modes: modes, Sizes: sizes, Train: codes}, Side{Variant: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "3") {
		t.Errorf("got notices %q, want one that reduces rank 7 to the 3 months", notices)
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
			t.Fatalf("got shapes %v, want %v", shapes, want)
		}
	}
	if f.Terms[0].Cores[1].Index != f.Terms[2].Cores[0].Index {
		t.Error("equal cores: got different indices, want the same")
	}
}

// rowsOfCodes counts the rows of each code, by mode.
func rowsOfCodes(codes [][]int32, sizes []int) [][]int32 {
	rows := make([][]int32, len(sizes))
	for m, column := range codes {
		rows[m] = make([]int32, sizes[m])
		for _, c := range column {
			if c >= 0 {
				rows[m][c]++
			}
		}
	}
	return rows
}

// The rows of entities are the same whether they are counted by row or from the numbers of rows of the codes.
func TestRowsOfEntities(t *testing.T) {
	t.Parallel()
	modes, sizes := []string{"store", "item"}, []int{4, 6}
	term, err := spec.ParseTerm("store,item:2", modes)
	if err != nil {
		t.Fatal(err)
	}
	for _, items := range [][]int32{{0, 0, 5, 5, 2}, {0, 0, 5, -3, 2}} { // a code of groups alone is not counted by code
		codes := [][]int32{{0, 1, 1, 3, 1}, items}
		var want []float32
		for _, rows := range [][][]int32{nil, rowsOfCodes(codes, sizes)} {
			f, _, err := Field([]spec.Term{term}, Data{Modes: modes, Sizes: sizes, Train: codes, Rows: rows}, Side{Variant: "plain"})
			if err != nil {
				t.Fatal(err)
			}
			got := append(slices.Clone(f.Terms[0].Cores[0].Rows), f.Terms[0].Cores[1].Rows...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || slices.Max(got) != 3 {
				t.Errorf("items %v: got %v rows by code, %v by row", items, got, want)
			}
		}
	}
}

// The three trains of latent scaling have the same ranks, but give one notice.
func TestFieldNotices(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "time"}
	term, err := spec.ParseTerm("store,time:9@ls", modes)
	if err != nil {
		t.Fatal(err)
	}
	data := Data{Modes: modes, Sizes: []int{4, 3}, Train: [][]int32{{0, 1, 2, 3}, {0, 1, 2, 0}}, Other: [][]int32{{}, {}}}
	_, notices, err := Field([]spec.Term{term}, data, Side{Operators: []regression.Operator{ones{4, 2}, ones{3, 2}}})
	if err != nil || len(notices) != 1 {
		t.Errorf("got notices %q, %v; want one notice", notices, err)
	}
}

// ones is an operator whose matrix has only ones.
type ones struct{ n, m int }

func (o ones) Rows() int    { return o.n }
func (o ones) Columns() int { return o.m }
func (o ones) Matrix() []float32 {
	a := make([]float32, o.n*o.m)
	for i := range a {
		a[i] = 1
	}
	return a
}

func TestFieldVariants(t *testing.T) {
	t.Parallel()
	modes, sizes := []string{"store", "item", "time"}, []int{4, 6, 3}
	data := Data{Modes: modes, Sizes: sizes, Train: [][]int32{{0, 1, 1, 3}, {0, 0, 5, 5}, {0, 1, 2, 0}}, Other: [][]int32{{2, 0}, {4, 0}, {1, 2}}}
	side := Side{Operators: []regression.Operator{ones{4, 2}, nil, ones{3, 2}}, Variant: "wlr", Coupled: true}
	for text, want := range map[string]string{
		"store,item,time:2":          "wlr(4+1 1x2) plain(2+1 2x2) wlr(3+1 2x1)",
		"store,item,time:2@additive": "additive(4+1 1x2) plain(2+1 2x2) additive(3+1 2x1)",
		"store,item,time:2@plain":    "plain(3+1 1x2) plain(2+1 2x2) plain(3+1 2x1)",
		"store*item,time:2":          "wlr(5+1 1x2) wlr(3+1 2x1)", // four pairs in training rows, one in other rows
		"item":                       "plain(2+1 1x1)",
		"store,time:2@ls:1:3":        "plain(3+1 1x1) plain(3+1 1x1) | side(4+1 1x2) side(3+1 2x1) | plain(3+1 1x3) plain(3+1 3x1) groups [0 0 1]",
	} {
		term, err := spec.ParseTerm(text, modes)
		if err != nil {
			t.Fatal(err)
		}
		if term.String() != text {
			t.Errorf("%s: got the term %s", text, term)
		}
		f, _, err := Field([]spec.Term{term}, data, side)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for k, train := range f.Terms {
			if k > 0 {
				got += " | "
			}
			for p, c := range train.Cores {
				if p > 0 {
					got += " "
				}
				got += fmt.Sprintf("%s(%d+1 %dx%d)", c.Variant, c.Slices.N-1, c.Slices.Left, c.Slices.Right)
				// A joint core with a mode that has no operator consists of several regressions,
				// so it is not coupled.
				if c.Coupled != (c.Variant == tt.WLR && len(c.Modes) == 1) {
					t.Errorf("%s: core %d: got coupled %v", text, p, c.Coupled)
				}
			}
		}
		if f.Group != nil {
			got += fmt.Sprintf(" groups %v", f.Group)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
