package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"
)

// startCase is a table of squared errors, with a few rows or in a form that fits of factors find hard.
type startCase struct {
	name  string
	rows  int
	sizes []int
	code  func(rng *rand.Rand, mode, size, row int) int32 // nil draws any code
	value func(code []int32, z float64) float64           // nil draws factors of entities
	light bool                                            // some rows have weight 0
}

var startCases = []startCase{
	{name: "1 row", rows: 1, sizes: []int{1, 1}},
	{name: "2 rows", rows: 2, sizes: []int{2, 1}},
	{name: "3 rows", rows: 3, sizes: []int{2, 2}},
	{name: "one mode", rows: 3000, sizes: []int{70}},
	{name: "two modes", rows: 5000, sizes: []int{60, 30}},
	{name: "three modes", rows: 4000, sizes: []int{200, 100, 40}},
	{name: "few rows per entity", rows: 3000, sizes: []int{2000, 500}},
	{name: "a row per entity", rows: 500, sizes: []int{500, 500}, code: func(_ *rand.Rand, _, _, row int) int32 { return int32(row) }},
	{name: "one entity", rows: 300, sizes: []int{1, 10}},
	{name: "no entities", rows: 300, sizes: []int{0, 10}, code: func(rng *rand.Rand, _, size, _ int) int32 { return int32(rng.IntN(size+1)) - 1 }},
	{name: "weights", rows: 4000, sizes: []int{50, 20}, light: true},
	{name: "equal noise", rows: 3000, sizes: []int{300, 100}, value: func(_ []int32, z float64) float64 { return z * z }},
	{name: "no errors", rows: 300, sizes: []int{20, 10}, value: func([]int32, float64) float64 { return 0 }},
	{name: "half of the entities without errors", rows: 4000, sizes: []int{50, 20}, value: func(code []int32, z float64) float64 { return float64(code[0]%2) * z * z }},
}

func (c startCase) draw(rng *rand.Rand) (Errors, [][]int32) {
	errors, codes := Errors{Squared: make([]float32, c.rows)}, make([][]int32, len(c.sizes))
	if c.light {
		errors.Weight = make([]float32, c.rows)
	}
	logs := make([][]float64, len(c.sizes))
	for k, size := range c.sizes {
		codes[k] = make([]int32, c.rows)
		for range size {
			logs[k] = append(logs[k], 0.7*rng.NormFloat64())
		}
	}
	for row := range c.rows {
		code, level, z := make([]int32, len(codes)), 0.0, rng.NormFloat64()
		for k, size := range c.sizes {
			if c.code != nil {
				code[k] = c.code(rng, k, size, row)
			} else {
				code[k] = int32(rng.IntN(size))
			}
			if codes[k][row] = code[k]; code[k] >= 0 {
				level += logs[k][code[k]]
			}
		}
		if c.value != nil {
			errors.Squared[row] = float32(c.value(code, z))
		} else {
			errors.Squared[row] = float32(math.Exp(level) * z * z)
		}
		if errors.Weight != nil {
			errors.Weight[row] = float32(rng.IntN(3))
		}
	}
	return errors, codes
}

// Whatever factors a fit begins with, it ends with the same variances, and it does not change those that it
// begins with. Modes within each other are not among the cases: their fits have several fixed points.
func TestByEntityFromAnyStart(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 9))
	for _, c := range startCases {
		errors, codes := c.draw(rng)
		want := FitByEntity(errors, codes, c.sizes, nil, 2)
		for try := range 5 {
			start := make([]ModeFactors, len(c.sizes))
			for k, size := range c.sizes {
				start[k] = ModeFactors{Unseen: 1, ByCode: make([]float64, size)}
				if try > 0 { // 0 stands for no strength
					start[k].Strength = math.Exp(4 * rng.NormFloat64())
				}
				for i := range start[k].ByCode {
					start[k].ByCode[i] = math.Exp(float64(try) / 2 * rng.NormFloat64())
				}
			}
			first := math.NaN()
			if len(start[0].ByCode) > 0 {
				first = start[0].ByCode[0]
			}
			got := FitByEntity(errors, codes, c.sizes, start, 1+try)
			if len(start[0].ByCode) > 0 && start[0].ByCode[0] != first {
				t.Errorf("%s: the fit changed the factors that it began with", c.name)
			}
			distance := 0.0
			for row := range c.rows {
				distance += math.Abs(math.Log(got.At(codes, row)/want.At(codes, row))) / float64(c.rows)
			}
			if !(distance < 5e-3) {
				t.Errorf("%s, start %d: the variances differ by %.2g on average from those of a fit that begins with 1", c.name, try, distance)
			}
		}
	}
}
