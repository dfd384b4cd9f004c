package baseline

import (
	"math"
	"testing"
)

// Two stores, three items, two months; expected values computed by hand.
func TestHandComputedExample(t *testing.T) {
	codes := [][]int32{
		{0, 0, 1, 0, 1}, // store
		{0, 0, 0, 1, 2}, // item
		{0, 1, 0, 0, 1}, // month
	}
	y := []float32{4, 8, 6, 2, 5}
	m := Fit([]string{"store", "item", "month"}, []int{2, 3, 2}, codes, y, nil)
	if m.Pair != "mean by store and item" || m.Mix != "mean by store and item, times factor by item and month" {
		t.Errorf("got names %q and %q", m.Pair, m.Mix)
	}
	global := 5.0
	item0 := (18 + global) / 4
	pair00 := (12 + item0) / 3
	pair10 := (6 + item0) / 2
	factor := (10 + item0) / (pair00 + pair10 + item0) // item 0 in month 0
	ask := [][]int32{{0, 1, 0, -1, 1}, {0, 2, 0, -1, 0}, {0, 0, -1, 1, 1}}
	for i, want := range [][2]float64{
		{pair00, pair00 * factor},
		{(5 + global) / 2, (5 + global) / 2}, // no row of item 2 in month 0: no factor
		{pair00, pair00},                     // unseen month: no factor
		{global, global},
		{pair10, pair10 * (8 + item0) / (pair00 + item0)},
	} {
		first, second := m.Predict(ask, i)
		if math.Abs(first-want[0]) > 1e-9 || math.Abs(second-want[1]) > 1e-9 {
			t.Errorf("cell %d: got %g and %g, want %g and %g", i, first, second, want[0], want[1])
		}
	}
}

func TestWeightTwoEqualsTwoRows(t *testing.T) {
	once := Fit([]string{"a", "b"}, []int{2, 2}, [][]int32{{0, 1, 1}, {0, 0, 1}}, []float32{1, 5, 3}, []float32{2, 1, 1})
	twice := Fit([]string{"a", "b"}, []int{2, 2}, [][]int32{{0, 0, 1, 1}, {0, 0, 0, 1}}, []float32{1, 1, 5, 3}, nil)
	for i := range 4 {
		codes := [][]int32{{int32(i / 2)}, {int32(i % 2)}}
		a1, a2 := once.Predict(codes, 0)
		b1, b2 := twice.Predict(codes, 0)
		if math.Abs(a1-b1) > 1e-9 || math.Abs(a2-b2) > 1e-9 {
			t.Errorf("cell %v: got %g, %g with weights, want %g, %g as with repeated rows", codes, a1, a2, b1, b2)
		}
	}
}

// Both predictors exist for any number of modes and any largest mode, and values
// of both signs give no infinite factor.
func TestNumbersOfModes(t *testing.T) {
	for _, sizes := range [][]int{{5}, {5, 2}, {2, 5}, {2, 5, 3}, {2, 3, 5}, {5, 2, 3, 4}} {
		codes := make([][]int32, len(sizes))
		names := make([]string, len(sizes))
		var y []float32
		for i := range 60 {
			for m, n := range sizes {
				codes[m] = append(codes[m], int32((i*(m+3))%n))
				names[m] = string(rune('a' + m))
			}
			y = append(y, float32(i%7)-3)
		}
		m := Fit(names, sizes, codes, y, nil)
		for i := range y {
			first, second := m.Predict(codes, i)
			if math.IsNaN(first+second) || math.Abs(first) > 10 || math.Abs(second) > 100 {
				t.Errorf("sizes %v, cell %d: got %g, %g", sizes, i, first, second)
			}
		}
	}
}
