package conformal

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestIndependent(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewPCG(1, 1))
	type sample struct {
		scores []float64
		block  []int
	}
	blocksOf := func(blocks, rows int, shared float64) (out sample) {
		for b := range blocks {
			common := source.NormFloat64()
			for range rows {
				out.scores = append(out.scores, math.Sqrt(shared)*common+math.Sqrt(1-shared)*source.NormFloat64())
				out.block = append(out.block, 2*b) // every other series has no forecasts
			}
		}
		return out
	}
	for _, c := range []struct {
		what         string
		blocks       sample
		least, most  float64
		factor, wide float64 // bounds of the factor of intervals
	}{
		{"nothing", sample{}, 0, 0, 2, 3},
		{"four origins of one series", blocksOf(4, 12, .9), 4, 7, 1.1, 1.25},
		{"single forecasts", blocksOf(40, 1, 0), 40, 40, 1, 1.03},
		{"many series without common errors", blocksOf(1000, 10, 0), 8000, 10000, 1, 1.001},
		{"many series with common errors", blocksOf(1000, 10, 1), 999, 1010, 1, 1.002},
	} {
		got := Independent(c.blocks.scores, c.blocks.block)
		if got < c.least-1e-9 || got > c.most+1e-9 {
			t.Errorf("%s: got %g independent scores, want %g to %g", c.what, got, c.least, c.most)
		}
		if f := studentFactor(got); f < c.factor || f > c.wide {
			t.Errorf("%s: intervals are %g times as wide, want %g to %g", c.what, f, c.factor, c.wide)
		}
	}
	// t quantiles at .95 with 5 and 20 degrees of freedom are 2.015 and 1.725.
	for nu, want := range map[float64]float64{5: 2.015, 20: 1.725} {
		if got := 1.6449 * studentFactor(nu-1); math.Abs(got-want) > 0.01 {
			t.Errorf("%g degrees of freedom: got the quantile %g, want %g", nu, got, want)
		}
	}
}

func TestSizeOf(t *testing.T) {
	t.Parallel()
	var same, twice []float64
	for p := 0.005; p < 1; p += 0.01 {
		z := math.Sqrt2 * math.Erfinv(2*p-1)
		same, twice = append(same, z), append(twice, 2*z)
	}
	for _, c := range []struct {
		scores []float64
		known  float64
		want   float64
	}{{same, 6, 1}, {twice, 6, math.Sqrt2}, {twice, 0, 1}, {twice, 1e9, 2}, {[]float64{0}, 6, math.Sqrt(1e-3)}} {
		if got := sizeOf(c.scores, c.known); math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("%d scores worth %g: got the size %g, want %g", len(c.scores), c.known, got, c.want)
		}
	}
}
