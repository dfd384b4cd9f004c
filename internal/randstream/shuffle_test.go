package randstream

import (
	"slices"
	"testing"
)

// Values are shuffled as by math/rand, and to a place as the rest of them.
func TestShuffle(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 3, 255, 256, 257, 1000, 5000} {
		want := New(1, "shuffle").Perm(n)
		for _, first := range []int{0, 1, n / 3, n - 1, n, n + 1} {
			got := make([]int32, n)
			for i := range got {
				got[i] = int32(i)
			}
			Shuffle(New(1, "shuffle"), got, first)
			before := min(max(first, 0), n)
			if first > 1 {
				slices.Sort(got[:before])
				slices.Sort(want[:before])
			}
			for i, v := range want {
				if int(got[i]) != v {
					t.Fatalf("%d values, first %d: place %d has %d, want %d", n, first, i, got[i], v)
				}
			}
			want = New(1, "shuffle").Perm(n)
		}
	}
}
