package parallel

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkFor measures the time of a loop whose pieces take the given number of steps, about a
// nanosecond each.
func BenchmarkFor(b *testing.B) {
	for _, threads := range []int{2, 4, 8, 16} {
		if threads > runtime.NumCPU() {
			continue
		}
		for _, steps := range []int{0, 2000, 20000} {
			b.Run(fmt.Sprintf("threads=%d/steps=%d", threads, steps), func(b *testing.B) {
				sums := make([]float64, 16*threads)
				for b.Loop() {
					For(threads, threads, func(i int) {
						s := 0.0
						for k := range steps {
							s += float64(k)
						}
						sums[16*i] = s
					})
				}
			})
		}
	}
}
