package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// reportPeak runs work, which takes the given number of floating-point
// operations, b.N times, alternating with measurements of the peak. It reports
// the best of each and their ratio: other programs slow down both.
func reportPeak(b *testing.B, p Path, threads int, operations float64, work func()) {
	b.Helper()
	start := time.Now()
	work()
	once := time.Since(start)
	best, peak := math.Inf(1), 0.0
	for b.Loop() {
		b.StopTimer()
		peak = max(peak, Peak(p, threads, max(time.Millisecond, min(once, 20*time.Millisecond))))
		b.StartTimer()
		start := time.Now()
		work()
		best = min(best, time.Since(start).Seconds())
	}
	b.ReportMetric(operations/best/1e9, "GFLOP/s")
	b.ReportMetric(100*operations/best/peak, "%peak")
	b.ReportMetric(peak/1e9, "peakGFLOP/s")
}

func randomSlice(n int) []float32 {
	random := rand.New(rand.NewPCG(1, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}

func BenchmarkGemm(b *testing.B) {
	for _, shape := range []struct {
		m, n, k int
		ta, tb  bool
	}{
		{m: 1024, n: 1024, k: 1024},
		{m: 1024, n: 1024, k: 1024, ta: true},
		{m: 1024, n: 1024, k: 1024, tb: true},
		{m: 100000, n: 64, k: 64},
		{m: 100000, n: 32, k: 32},
		{m: 10000, n: 10000, k: 64},
		{m: 10000, n: 10000, k: 64, tb: true},
		{m: 64, n: 64, k: 100000, ta: true},
		{m: 16, n: 16, k: 100000, ta: true},
	} {
		a, x, c := randomSlice(shape.m*shape.k), randomSlice(shape.k*shape.n), make([]float32, shape.m*shape.n)
		_, lda := stored(shape.ta, shape.m, shape.k)
		_, ldb := stored(shape.tb, shape.k, shape.n)
		for _, p := range Paths() {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%dx%dx%d,ta=%v,tb=%v/%s/%d", shape.m, shape.n, shape.k, shape.ta, shape.tb, p, threads), func(b *testing.B) {
					operations := 2 * float64(shape.m) * float64(shape.n) * float64(shape.k)
					reportPeak(b, p, threads, operations, func() {
						Gemm(p, threads, shape.ta, shape.tb, shape.m, shape.n, shape.k, 1, a, lda, x, ldb, 0, c, shape.n)
					})
				})
			}
		}
	}
}

func BenchmarkBatchedGemm(b *testing.B) {
	for _, r := range []int{4, 8, 10, 16, 32, 64} {
		count := 1 << 16 / (r * r) // three quarters of a megabyte in total
		x, y, dst := randomSlice(count*r*r), randomSlice(count*r*r), make([]float32, count*r*r)
		for _, p := range Paths() {
			b.Run(fmt.Sprintf("r=%d/%s", r, p), func(b *testing.B) {
				const repeats = 10
				reportPeak(b, p, 1, repeats*2*float64(count)*float64(r*r*r), func() {
					for range repeats {
						BatchedGemm(p, r, r, r, count, x, y, dst)
					}
				})
			})
		}
	}
}

func BenchmarkGram(b *testing.B) {
	for _, r := range []int{2, 4, 8, 16, 24, 32, 48, 64} {
		for _, n := range []int{5, 30, 1024} {
			panel, dst := randomSlice(n*r), make([]float32, r*r)
			for _, p := range Paths() {
				b.Run(fmt.Sprintf("r=%d/n=%d/%s", r, n, p), func(b *testing.B) {
					repeats := 1 + 200000/(n*r)
					reportPeak(b, p, 1, 2*float64(repeats*n*r*r), func() {
						for range repeats {
							Gram(p, dst, panel, n, r)
						}
					})
				})
			}
		}
	}
}

func BenchmarkVectorFunctions(b *testing.B) {
	src := randomSlice(4096)
	dst := make([]float32, len(src))
	for name, f := range map[string]struct {
		vector func(Path, []float32, []float32)
		scalar func(dst, src []float32) // calls the function of package math for each element
	}{"exp": {Exp, genericExp}, "cos": {Cos, genericCos}} {
		for _, p := range Paths() {
			b.Run(name+"/"+string(p), func(b *testing.B) {
				vector, scalar := math.Inf(1), math.Inf(1)
				for b.Loop() {
					start := time.Now()
					f.vector(p, dst, src)
					vector = min(vector, time.Since(start).Seconds())
					start = time.Now()
					f.scalar(dst, src)
					scalar = min(scalar, time.Since(start).Seconds())
				}
				b.ReportMetric(vector*1e9/float64(len(src)), "ns/element")
				b.ReportMetric(scalar/vector, "x-of-math")
			})
		}
	}
}
