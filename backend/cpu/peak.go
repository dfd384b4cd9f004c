package cpu

import (
	"time"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Peak measures the number of floating-point operations per second that the
// given number of threads reaches with fused multiply-adds alone, over about
// the given time. The speed of a kernel is compared with it in the same run.
func Peak(p Path, threads int, duration time.Duration) float64 {
	fma := denseKernelsFor(p).fma
	speeds := make([]float64, threads)
	// One range per thread, so that all threads are busy at the same time.
	parallel.Ranges(threads, threads, func(thread, _, _ int) {
		const burst = 2000
		var operations float64
		start := time.Now()
		elapsed := time.Duration(0)
		for operations == 0 || elapsed < duration {
			operations += fma(burst)
			elapsed = time.Since(start)
		}
		speeds[thread] = operations / elapsed.Seconds()
	})
	var sum float64
	for _, speed := range speeds {
		sum += speed
	}
	return sum
}

// genericFMA keeps eight sums busy and uses them, so that the compiler does not
// remove the loop.
func genericFMA(iterations int) float64 {
	const x, y = 0.5, 0.25
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for range iterations {
		s0 = s0*x + y
		s1 = s1*x + y
		s2 = s2*x + y
		s3 = s3*x + y
		s4 = s4*x + y
		s5 = s5*x + y
		s6 = s6*x + y
		s7 = s7*x + y
	}
	if s0+s1+s2+s3+s4+s5+s6+s7 < 0 {
		return 0
	}
	return float64(iterations) * 16
}
