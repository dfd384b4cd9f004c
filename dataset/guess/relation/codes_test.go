package relation

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCrossed checks the codes of pairs, with few pairs (by a table) and with many (by a map).
func TestCrossed(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, most := range []int32{1, 7, 500} {
		a, b := make([]int32, 400), make([]int32, 400)
		for i := range a {
			a[i], b[i] = r.Int32N(most), r.Int32N(most)
		}
		got, n := Crossed(a, b)
		var want []int32
		var pairs [][2]int32
		for i := range a {
			pair := [2]int32{a[i], b[i]}
			if !slices.Contains(pairs, pair) {
				pairs = append(pairs, pair)
			}
			want = append(want, int32(slices.Index(pairs, pair)))
		}
		if n != len(pairs) || !slices.Equal(got, want) {
			t.Errorf("codes up to %d: got %d pairs, %v, want %d, %v", most, n, got, len(pairs), want)
		}
	}
	if got, n := Crossed(nil, nil); len(got) != 0 || n != 0 {
		t.Errorf("got %v, %d", got, n)
	}
}
