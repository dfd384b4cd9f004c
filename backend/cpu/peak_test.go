package cpu

import (
	"math"
	"testing"
	"time"
)

func TestPeak(t *testing.T) {
	eachPath(t, func(t *testing.T, p Path) {
		for _, threads := range []int{1, 2} {
			if peak := Peak(p, threads, time.Millisecond); !(peak > 1e6) || math.IsInf(peak, 1) {
				t.Errorf("%d threads: got %g operations per second, want a finite number above 1e6", threads, peak)
			}
		}
	})
}
