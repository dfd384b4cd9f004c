package predictive

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// TestCellVectors checks that vectors have the bits of the Go code, for all numbers of lanes
// beyond the last whole vector, and do not write beyond the end.
func TestCellVectors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.ExpFloat64()
		}
		return v
	}
	same := func(what string, n int, got, want []float64) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s of %d: %v, expected %v", what, n, got, want)
		}
	}
	scores := standardNormal
	var steps [3][64]uint8
	for i := range 64 {
		steps[0][i], steps[1][i], steps[2][i] = uint8(rng.Uint32()), uint8(rng.Uint32()), 255
	}
	factors := NewStepFactors(16, 384)
	for n := range 40 {
		a, f := numbers(n+1), numbers(n+1)
		got, want := slices.Clone(a), slices.Clone(a)
		multiply(got[:n], steps[0][:], steps[1][:], steps[2][:], factors)
		multiplyGo(want[:n], steps[0][:], steps[1][:], steps[2][:], factors)
		same("products", n, got, want)
		got, want = make([]float64, 4*n+32), make([]float64, 4*n)
		even(got, a[:n])
		evenGo(want, a[:n])
		same("parts", n, got[:4*n], want)
		if got, want := count(a[:n], 1), countGo(a[:n], 1); got != want {
			t.Errorf("%d of %d numbers below 1, expected %d", got, n, want)
		}
		got, want = slices.Clone(a), slices.Clone(a)
		temper(got[:n], f, 3, 0.7)
		temperGo(want[:n], f, 3, 0.7)
		same("factors of counts", n, got, want)
		if got, want := totalWeight(a[:n]), totalGo(a[:n]); got != want {
			t.Errorf("total of %d: %g, expected %g", n, got, want)
		}
		got, want = make([]float64, n+1), make([]float64, n+1)
		if a, b := accumulate(got[:n], a[:n]), accumulateGo(want[:n], a[:n]); a != b {
			t.Errorf("last sum of %d: %g, expected %g", n, a, b)
		}
		same("sums", n, got, want)
		for i := range f {
			f[i] = 20*f[i] - 10
		}
		slices.Sort(f)
		got, want = make([]float64, n+1), make([]float64, n+1)
		gotWeight, wantWeight := make([]float64, n+1), make([]float64, n+1)
		cellLevels(got, gotWeight, f[:n], &scores.level, 50, 380, 1e-7)
		levelsGo(want, wantWeight, f[:n], &scores.level, 50, 380, 1e-7)
		same("levels", n, got, want)
		same("differences of levels", n, gotWeight, wantWeight)
	}
}

func BenchmarkCells(b *testing.B) {
	t := targetscale.Power(0.2, 1)
	cells := NewCells(t, 256)
	var h Heaped
	factors, steps := NewStepFactors(16, 0), make([]uint8, 256+StepRoom)
	values, counts := []uint8{6, 12, 24}, []uint8{3, 9, 2}
	d := Gaussian(t, t.Forward(12), 0.1, 0.4)
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			h.SetCells(&d, cells)
		}
	})
	b.Run("weigh", func(b *testing.B) {
		for b.Loop() {
			h.MultiplySteps(factors, steps, steps, steps)
			h.Temper(values, counts, 2)
			d.Heap(&h)
		}
	})
}
