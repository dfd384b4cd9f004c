package power

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver"
)

// levels returns rows of three modes whose targets are a function of a level, the sum of
// their effects.
func levels(n int, target func(level float64, rng *rand.Rand) float64) solver.Observations {
	rng := randstream.New(1, "levels")
	sizes := []int{30, 40, 12}
	var effect [3][]float64
	for m, size := range sizes {
		for range size {
			effect[m] = append(effect[m], rng.NormFloat64())
		}
	}
	o := solver.Observations{Codes: make([][]int32, 3)}
	for range n {
		level := 0.0
		for m, size := range sizes {
			c := rng.IntN(size)
			o.Codes[m] = append(o.Codes[m], int32(c))
			level += effect[m][c]
		}
		y := target(level, rng)
		o.Y, o.Low = append(o.Y, float32(y)), append(o.Low, float32(y-float64(float32(y))))
	}
	return o
}

// TestEstimatedPower checks the power for targets whose scale is known.
func TestEstimatedPower(t *testing.T) {
	t.Parallel()
	logNormal := func(f float64, rng *rand.Rand) float64 { return math.Exp(0.6*f + 0.4*rng.NormFloat64()) }
	for i, c := range []struct {
		name      string
		low, high float64
		target    func(level float64, rng *rand.Rand) float64
	}{
		{"log-normal", 0, 0.1, logNormal},
		{"small units", 0, 0.1, func(f float64, rng *rand.Rand) float64 { return 1e-3 * logNormal(f, rng) }},
		{"large units", 0, 0.1, func(f float64, rng *rand.Rand) float64 { return 1e6 * logNormal(f, rng) }},
		{"normal of both signs", 1, 1, func(f float64, rng *rand.Rand) float64 { return f + rng.NormFloat64() }},
		{"normal far from 0", 1, 1, func(f float64, rng *rand.Rand) float64 { return 200 + f + rng.NormFloat64() }},
		{"normal too far from 0 for float32", 1, 1, func(f float64, rng *rand.Rand) float64 { return 1e10 + f + rng.NormFloat64() }},
		{"square of a normal", 0.35, 0.75, func(f float64, rng *rand.Rand) float64 { return math.Pow(max(6+f+rng.NormFloat64(), 0), 2) }},
		{"log-normal with returns", 0.1, 0.5, func(f float64, rng *rand.Rand) float64 {
			y := 20 * logNormal(f, rng)
			if rng.Float64() < 0.03 {
				y *= -0.5
			}
			return y
		}},
	} {
		rows := levels(3000, c.target)
		found, err := estimate(t.Context(), rows, 1, 2)
		if err != nil || !(found.Power >= c.low && found.Power <= c.high) {
			t.Errorf("%s: got %+v, %v, want a power from %g to %g", c.name, found, err, c.low, c.high)
		}
		if i > 0 {
			continue
		}
		again, err := estimate(t.Context(), rows, 1, 1)
		if err != nil || again.Power != found.Power || again.Tried[3] != found.Tried[3] {
			t.Errorf("%s: another number of threads gives %+v", c.name, again)
		}
	}
}

// TestPowerWeights checks that rows of weight 0 or nearly 0 have no effect.
func TestPowerWeights(t *testing.T) {
	t.Parallel()
	rows := levels(4000, func(f float64, rng *rand.Rand) float64 {
		if rng.Float64() < 0.5 {
			return 10 + f + rng.NormFloat64()
		}
		return math.Exp(3*f + 0.4*rng.NormFloat64())
	})
	rows.W = make([]float32, rows.Len())
	for i, y := range rows.Y {
		rows.W[i] = 1e-6
		if y > 4 && y < 16 {
			rows.W[i] = 1
		}
	}
	weighted, err := estimate(t.Context(), rows, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	rows.W = nil
	plain, err := estimate(t.Context(), rows, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !(weighted.Power > plain.Power+0.3) {
		t.Errorf("the power is %g with the weights of the normal rows, %g without", weighted.Power, plain.Power)
	}
}
