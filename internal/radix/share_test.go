package radix_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/internal/radix"
)

// Processes sort numbers as one does, also with many equal ones, with zeros of both signs and with NaN.
func TestSortAndOrderOver(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	draw := map[string]func() float64{
		"normal":   rng.NormFloat64,
		"few":      func() float64 { return math.Round(rng.NormFloat64()) },
		"one":      func() float64 { return 3 },
		"zeros":    func() float64 { return math.Copysign(0, rng.NormFloat64()) },
		"infinite": func() float64 { return []float64{math.Inf(1), math.Inf(-1), rng.Float64()}[rng.IntN(3)] },
		"nan":      func() float64 { return []float64{math.NaN(), rng.Float64()}[rng.IntN(2)] },
	}
	bits := func(values []float64) []uint64 {
		out := make([]uint64, len(values))
		for i, v := range values {
			out[i] = math.Float64bits(v)
		}
		return out
	}
	for name, next := range draw {
		for _, n := range []int{0, 5, 20_000} {
			values, keys := make([]float64, n), make([]uint64, n)
			for i := range values {
				values[i] = next()
				keys[i] = radix.Float(values[i])
			}
			want := slices.Clone(values)
			radix.Sort(1, want)
			order, _ := radix.Order(1, keys)
			for _, size := range []int{1, 3, 8} {
				backendtest.OnRanks(size, func(r backend.Ranks) {
					got := slices.Clone(values)
					radix.SortOver(r, 1, got)
					if !slices.Equal(bits(got), bits(want)) {
						t.Errorf("%s, %d values, process %d of %d: they are not sorted", name, n, r.Rank(), size)
					}
					if got := radix.OrderOver(r, 1, slices.Clone(keys)); !slices.Equal(got, order) {
						t.Errorf("%s, %d values, process %d of %d: the order differs", name, n, r.Rank(), size)
					}
				})
			}
		}
	}
}
