package bench

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// functions measures exp and cos on a slice relative to package math, and their
// errors.
func (r *run) functions() error {
	for _, f := range []struct {
		name, kind string
		vector     func(cpu.Path, []float32, []float32)
		scalar     func(float64) float64
		low, high  float64
		distance   func(have, want float64) float64
	}{
		{"exp", "relative", cpu.Exp, math.Exp, -87, 88, func(have, want float64) float64 { return math.Abs(have/want - 1) }},
		{"cos", "absolute", cpu.Cos, math.Cos, -1e4, 1e4, func(have, want float64) float64 { return math.Abs(have - want) }},
	} {
		random := rand.New(rand.NewPCG(3, 5))
		src, dst := make([]float32, r.sizes.numbers), make([]float32, r.sizes.numbers)
		for i := range src {
			src[i] = float32(f.low + (f.high-f.low)*random.Float64())
		}
		n := float64(len(src))
		best, err := r.alternate(
			timed(n, func() error { f.vector(r.path, dst, src); return nil }),
			timed(n, func() error {
				for i, x := range src {
					dst[i] = float32(f.scalar(float64(x)))
				}
				return nil
			}))
		if err != nil {
			return err
		}
		r.add(Measure{Name: f.name + " on a slice, 1 thread", Value: 1e9 / best[0], Unit: "ns", Ratio: best[0] / best[1], RatioOf: "math", Target: atLeast(20)})

		// The error on as many arguments in each binade.
		worst := 0.0
		for scale := f.high; scale > 1e-6; scale /= 2 {
			for i := range src {
				src[i] = float32(max(f.low, min(f.high, scale*(2*random.Float64()-1))))
			}
			f.vector(r.path, dst, src)
			for i, x := range src {
				worst = max(worst, f.distance(float64(dst[i]), f.scalar(float64(x))))
			}
		}
		r.add(Measure{Name: f.name + ", largest error", Value: worst, Unit: f.kind, Target: atMost(1e-6)})
	}
	return nil
}
