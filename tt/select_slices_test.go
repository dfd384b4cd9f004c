package tt_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A pass over the slices that the cells use gives the same bits as one over all
// slices, on every instruction set.
func TestSelectedSlicesGiveTheSameBits(t *testing.T) {
	t.Parallel()
	for _, path := range cpu.Paths() {
		b := cpu.New(path, 1)
		for _, tc := range posteriors() {
			rng := rand.New(rand.NewPCG(3, 3))
			codes := cells(rng, 60)
			f := tc.field(t, b, codes, rng)
			for _, n := range []int{1, 2, 5, 20} {
				some := make([][]int32, len(codes))
				for m := range codes {
					for range n {
						some[m] = append(some[m], int32(rng.IntN(sizes[m]+1))-1)
					}
				}
				got, want := newMoments(n), newMoments(n)
				f.EvaluateMomentsOf(b, got, some, 1)
				f.EvaluateMomentsOf(b, want, some, math.MaxInt)
				if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Var, want.Var) {
					t.Errorf("%v, %s, %d cells: got %v, want %v", path, tc.name, n, got, want)
				}
			}
		}
	}
}

func newMoments(n int) tt.Moments {
	return tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
}
