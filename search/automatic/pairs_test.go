package automatic

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// Blocks of two effects exceed chance by little, those of a product by much.
func TestInteraction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mean  func(a, b int) float64
		found bool
	}{
		"noise":       {func(int, int) float64 { return 0 }, false},
		"two effects": {func(a, b int) float64 { return float64(a) - 0.5*float64(b*b) }, false},
		"product":     {func(a, b int) float64 { return 0.1 * float64(a-3) * float64(b-2) }, true},
		"one block":   {func(a, b int) float64 { return float64(a/6) * float64(b/4) }, true},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		a, b, residuals := grouping{of: make([]int, 3000), n: 7}, grouping{of: make([]int, 3000), n: 5}, make([]float64, 3000)
		for row := range residuals {
			a.of[row], b.of[row] = rng.IntN(7), rng.IntN(5)
			residuals[row] = c.mean(a.of[row], b.of[row]) + rng.NormFloat64()
		}
		excess, chance := interaction(residuals, a, b)
		if got := excess > leastPair*chance; got != c.found {
			t.Errorf("%s: excess %.1f of %.1f by chance", name, excess, chance)
		}
	}
	one := grouping{of: make([]int, 3), n: 1}
	if excess, _ := interaction([]float64{1, 2, 3}, one, one); excess != 0 {
		t.Errorf("one block: got %g", excess)
	}
}

// Slopes of many ids with few rows each exceed chance by much, one slope of all and levels of ids do not.
func TestSlopes(t *testing.T) {
	t.Parallel()
	const ids, rows = 200, 800
	for name, c := range map[string]struct {
		mean  func(id int, x float64) float64
		found bool
	}{
		"noise":     {func(int, float64) float64 { return 0 }, false},
		"levels":    {func(id int, _ float64) float64 { return float64(id % 7) }, false},
		"one slope": {func(_ int, x float64) float64 { return 5 * x }, false},
		"slopes":    {func(id int, x float64) float64 { return float64(id%7-3) * x }, true},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		codes, x, residuals := make([]int32, rows), make([]float64, rows), make([]float64, rows)
		for row := range residuals {
			codes[row], x[row] = int32(rng.IntN(ids)), rng.Float64()
			residuals[row] = c.mean(int(codes[row]), x[row]) + rng.NormFloat64()
			if row%10 == 0 {
				x[row] = math.NaN()
			}
		}
		excess, chance := slopes(residuals, codes, ids, x)
		if got := excess > leastPair*chance; got != c.found {
			t.Errorf("%s: excess %.1f of %.1f by chance", name, excess, chance)
		}
	}
	if excess, _ := slopes([]float64{1, 2}, []int32{0, 1}, 2, []float64{0, 1}); excess != 0 {
		t.Errorf("one row per id: got %g", excess)
	}
}

// A round offers the four pairs with the largest measure, without those that do not show it: slopes of ids leave
// a list to interactions between blocks.
func TestLargestPairs(t *testing.T) {
	pairs := []pair{{blocks: 5}, {ids: 90}, {blocks: 7, ids: 60}, {ids: 80}, {ids: 70}, {blocks: 6}}
	for _, c := range []struct {
		name    string
		measure func(pair) float64
		want    []pair
	}{
		{"blocks", func(p pair) float64 { return p.blocks }, []pair{{blocks: 7, ids: 60}, {blocks: 6}, {blocks: 5}}},
		{"both", func(p pair) float64 { return max(p.blocks, p.ids) }, []pair{{ids: 90}, {ids: 80}, {ids: 70}, {blocks: 7, ids: 60}}},
	} {
		if got := largest(pairs, c.measure); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
