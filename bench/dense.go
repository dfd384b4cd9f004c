package bench

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// dense measures matrix products relative to the multiply-add peak.
func (r *run) dense() error {
	single := 0.0
	for _, threads := range r.threads {
		best, err := r.alternate(func() (float64, error) { return cpu.Peak(r.path, threads, 4*time.Millisecond), nil })
		if err != nil {
			return err
		}
		r.peaks[threads] = best[0]
		m := Measure{Name: "FMA peak, " + onThreads(threads), Value: best[0] / 1e9, Unit: "GFLOP/s"}
		if threads == 1 {
			single = best[0]
		} else {
			m.Ratio, m.RatioOf = best[0]/single, "1 thread"
		}
		r.add(m)
	}
	s := r.sizes
	for _, threads := range r.threads {
		target := 0.85
		if threads > 1 {
			target = 0.75
		}
		if err := r.gemm(threads, s.square, s.square, s.square, target); err != nil {
			return err
		}
	}
	if err := r.gemm(r.maxThreads(), s.tall, 64, 64, 0.70); err != nil {
		return err
	}
	if err := r.gemm(r.maxThreads(), s.outer, s.outer, 64, 0.70); err != nil {
		return err
	}
	for _, rank := range []int{16, 32, 64} {
		if err := r.batched(rank); err != nil {
			return err
		}
	}
	return r.gonum()
}

// gemm measures C = A B where C is m x n.
func (r *run) gemm(threads, m, n, k int, target float64) error {
	a, b, c := normals(m*k), normals(k*n), make([]float32, m*n)
	flops := 2 * float64(m) * float64(n) * float64(k)
	speed, peak, err := r.againstPeak(threads, flops, func() error {
		cpu.Gemm(r.path, threads, false, false, m, n, k, 1, a, k, b, n, 0, c, n)
		return nil
	})
	if err != nil {
		return err
	}
	r.add(Measure{Name: fmt.Sprintf("GEMM %dx%dx%d, %s", m, n, k, onThreads(threads)), Value: speed / 1e9, Unit: "GFLOP/s",
		Ratio: speed / peak, RatioOf: "FMA peak", Target: atLeast(target)})
	return nil
}

// batched measures batches of products of small square matrices on one thread: a
// batch that fits into the second-level cache, like the slices of a pass, and one
// sixteen times as large, which is limited by memory for small ranks.
func (r *run) batched(rank int) error {
	const larger = 16
	for _, numbers := range []int{r.sizes.batched, larger * r.sizes.batched} {
		count := max(1, numbers/(rank*rank))
		n := count * rank * rank
		a, b, c := normals(n), normals(n), make([]float32, n)
		repetitions := larger * r.sizes.batched / numbers
		flops := 2 * float64(n) * float64(rank) * float64(repetitions)
		speed, peak, err := r.againstPeak(1, flops, func() error {
			for range repetitions {
				cpu.BatchedGemm(r.path, rank, rank, rank, count, a, b, c)
			}
			return nil
		})
		if err != nil {
			return err
		}
		m := Measure{Name: fmt.Sprintf("batched GEMM r=%d, 1 thread", rank), Value: speed / 1e9, Unit: "GFLOP/s",
			Ratio: speed / peak, RatioOf: "FMA peak", Target: atLeast(0.45)}
		if numbers > r.sizes.batched {
			m.Name += ", out of cache"
			m.Target = nil
		}
		r.add(m)
	}
	return nil
}

// gonum measures the same square product in gonum, the common Go library for it,
// which uses all threads.
func (r *run) gonum() error {
	n := r.sizes.square
	a, b, c := normals(n*n), normals(n*n), make([]float32, n*n)
	flops := 2 * float64(n) * float64(n) * float64(n)
	var library gonum.Implementation
	best, err := r.alternate(
		timed(flops, func() error {
			cpu.Gemm(r.path, r.maxThreads(), false, false, n, n, n, 1, a, n, b, n, 0, c, n)
			return nil
		}),
		timed(flops, func() error {
			library.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
			return nil
		}))
	if err != nil {
		return err
	}
	r.add(Measure{Name: fmt.Sprintf("GEMM %dx%dx%d compared with gonum", n, n, n), Value: best[0] / 1e9, Unit: "GFLOP/s",
		Ratio: best[0] / best[1], RatioOf: "gonum"})
	return nil
}

// normals returns n standard normal numbers from a fixed seed.
func normals(n int) []float32 {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64())
	}
	return x
}
