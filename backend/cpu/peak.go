package cpu

import (
	"sync"
	"time"
)

// Peak measures how many floating-point operations a second the given number
// of threads reach with fused multiply-adds alone, over about the given time.
// It is what the speed of a kernel is to be compared with, in the same run.
func Peak(p Path, threads int, duration time.Duration) float64 {
	fma := denseKernelsFor(p).fma
	speeds := make([]float64, threads)
	var group sync.WaitGroup
	for i := range speeds {
		group.Go(func() {
			const burst = 2000
			var operations float64
			start := time.Now()
			elapsed := time.Duration(0)
			for operations == 0 || elapsed < duration {
				operations += fma(burst)
				elapsed = time.Since(start)
			}
			speeds[i] = operations / elapsed.Seconds()
		})
	}
	group.Wait()
	var sum float64
	for _, speed := range speeds {
		sum += speed
	}
	return sum
}

// genericFMA keeps eight sums busy, and looks at them, so that no compiler
// drops the loop.
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
