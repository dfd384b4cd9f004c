package radix

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrderIsStable(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 100, 70_000} {
		for _, width := range []uint{0, 1, 11, 12, 24, 40, 64} {
			for _, low := range []uint{0, 7} {
				keys := make([]uint64, n)
				for i := range keys {
					keys[i] = rng.Uint64() >> (64 - width) << low // a shift by 64 gives 0
				}
				want := make([]int32, n)
				for i := range want {
					want[i] = int32(i)
				}
				slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
				before := slices.Clone(keys)
				for _, threads := range []int{1, 2, 7} {
					got, sorted := Order(threads, keys)
					if !slices.Equal(got, want) || !slices.IsSorted(sorted) {
						t.Fatalf("%d keys of %d bits, shifted by %d, %d threads: not in order", n, width, low, threads)
					}
					for i, k := range sorted {
						if k != keys[got[i]] {
							t.Fatalf("key %d of the order is %d, want %d", i, k, keys[got[i]])
						}
					}
				}
				if !slices.Equal(keys, before) {
					t.Fatal("the keys changed")
				}
			}
		}
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 5, 3000} {
		for _, special := range []float64{0, math.Inf(1), math.Inf(-1), math.NaN()} {
			values := make([]float64, n)
			for i := range values {
				values[i] = rng.NormFloat64() * math.Exp(20*rng.NormFloat64())
			}
			if n > 0 {
				values[n/2] = special
			}
			want := slices.Clone(values)
			slices.Sort(want)
			Sort(1+len(values)%5, values)
			if !slices.EqualFunc(values, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				t.Fatalf("%d numbers with %g are not sorted", n, special)
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, 300_000)
	for b.Loop() {
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		Sort(1, values)
	}
}

func BenchmarkOrder(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 1<<14)
	for i := range keys {
		keys[i] = rng.Uint64() >> 40
	}
	for b.Loop() {
		Order(1, keys)
	}
}
