package likelihood

import (
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// synthetic draws negative binomial counts (Poisson for size 0) whose field is
// known up to a normal error with variance v.
func synthetic(cells int, size, v float64) Cells {
	rng := randstream.New(1, "counts")
	var c Cells
	for range cells {
		m := 1 + 1.2*rng.NormFloat64()
		f := m + math.Sqrt(v)*rng.NormFloat64()
		y := Poisson{}.Draw(rng, f)
		if size > 0 {
			y = NegativeBinomial{size}.Draw(rng, f)
		}
		c.Y, c.Mean, c.Variance = append(c.Y, float32(y)), append(c.Mean, float32(m)), append(c.Variance, float32(v))
	}
	return c
}

func TestFitSizeRecovers(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{0.3, 2, 15} {
		cells := synthetic(12000, want, 0)
		for _, start := range []float64{0, 1e-3, want, 1e6} {
			fitted, value := NegativeBinomial{start}.FitSize(cells, nil)
			near(t, "size", fitted.Size/want, 1, 0.06)
			if start > 0 {
				if before := sizeObjective(start, cells, nil)[0]; value < before {
					t.Errorf("from %g: the objective decreased from %g to %g", start, before, value)
				}
			}
			// Neither neighbour of a maximum is better by more than the
			// tolerance.
			for _, factor := range []float64{0.99, 1.01} {
				if q := sizeObjective(fitted.Size*factor, cells, nil)[0]; q > value+10*sizeGain {
					t.Errorf("from %g: size %g is not the best, %g is better by %g", start, fitted.Size, fitted.Size*factor, q-value)
				}
			}
		}
	}
}

// TestFitSizeNeverFalls uses few cells, whose objectives have flat and convex
// stretches where a step can overshoot.
func TestFitSizeNeverFalls(t *testing.T) {
	t.Parallel()
	rng := randstream.New(6, "few cells")
	for k := range 300 {
		var c Cells
		for range 1 + k%4 {
			c.Y = append(c.Y, float32(rng.IntN(1+rng.IntN(200))))
			c.Mean = append(c.Mean, float32(1+2*rng.NormFloat64()))
			c.Variance = append(c.Variance, rng.Float32())
		}
		start := math.Exp(3 * rng.NormFloat64())
		before := sizeObjective(start, c, nil)[0]
		fitted, after := NegativeBinomial{start}.FitSize(c, nil)
		if after < before {
			t.Errorf("%v from %g: the objective decreased from %g to %g", c, start, before, after)
		}
		if q := sizeObjective(fitted.Size, c, nil)[0]; math.Abs(q-after) > 1e-9*(1+math.Abs(q)) {
			t.Errorf("%v: returned objective is %g, want %g", c, after, q)
		}
	}
}

func TestFitSizeOfPoissonData(t *testing.T) {
	t.Parallel()
	fitted, _ := NegativeBinomial{}.FitSize(synthetic(20000, 0, 0), nil)
	if fitted.Size < 100 {
		t.Errorf("size is %g for data without overdispersion, want at least 100", fitted.Size)
	}
}

func TestSizeDerivatives(t *testing.T) {
	t.Parallel()
	cells := synthetic(300, 3, 0.4)
	for _, r := range []float64{0.05, 1, 3, 300} {
		const h = 1e-4
		up, at, down := sizeObjective(r*math.Exp(h), cells, nil), sizeObjective(r, cells, nil), sizeObjective(r*math.Exp(-h), cells, nil)
		near(t, "first", at[1], (up[0]-down[0])/(2*h), 1e-5*(1+math.Abs(at[1])))
		near(t, "second", at[2], (up[1]-down[1])/(2*h), 1e-5*(1+math.Abs(at[2])))
	}
}

func BenchmarkSites(b *testing.B) {
	cells := synthetic(200000, 4, 0.3)
	out := Sites{make([]float32, len(cells.Y)), make([]float32, len(cells.Y))}
	with := func(v float32) Cells {
		c := cells
		c.Variance = slices.Repeat([]float32{v}, len(c.Y))
		return c
	}
	wide, narrow := with(9), with(0.1)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"poisson", func() { Poisson{}.Sites(cells, out, nil) }},
		{"negbinomial", func() { NegativeBinomial{4}.Sites(cells, out, nil) }},
		{"negbinomial,sd=0.3", func() { NegativeBinomial{4}.Sites(narrow, out, nil) }},
		{"negbinomial,sd=3", func() { NegativeBinomial{4}.Sites(wide, out, nil) }},
		{"bound", func() { NegativeBinomial{4}.Bound(cells, out, nil) }},
		{"size", func() { sizeObjective(4, cells, nil) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(cells.Y)), "ns/cell")
		})
	}
}
