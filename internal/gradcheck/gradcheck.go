// Package gradcheck compares gradients with central differences.
package gradcheck

import (
	"math"
	"testing"
)

// Check compares gradient, the derivative of value with respect to each entry of x,
// with (value(x+h) - value(x-h)) / 2h at up to count entries spread over x. value
// must read x at each call. The tolerance is relative to the largest difference
// quotient.
func Check(t *testing.T, what string, x, gradient []float32, value func() float64, h float64, count int, tolerance float64) {
	t.Helper()
	if len(x) != len(gradient) {
		t.Fatalf("%s: got %d entries of the gradient, want %d", what, len(gradient), len(x))
	}
	stride := max(1, len(x)/count)
	scale := 0.0
	var at []int
	var want []float64
	for i := 0; i < len(x); i += stride {
		old := x[i]
		high, low := old+float32(h), old-float32(h)
		x[i] = high
		up := value()
		x[i] = low
		down := value()
		x[i] = old
		d := (up - down) / (float64(high) - float64(low))
		at, want = append(at, i), append(want, d)
		scale = max(scale, math.Abs(d))
	}
	for k, i := range at {
		if d := math.Abs(float64(gradient[i]) - want[k]); !(d <= tolerance*scale) {
			t.Errorf("%s: entry %d: got gradient %g, want %g (scale %g)", what, i, gradient[i], want[k], scale)
		}
	}
}
