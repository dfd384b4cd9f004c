package fitdata

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/solver"
)

// maxStep is the largest distance between neighbouring float64 numbers, as a share of the
// target's standard deviation, that needs no warning.
const maxStep = 1e-3

// WarnCoarseTarget returns a warning if float64 is too coarse for a target, otherwise "".
// For example, float64 numbers near 1e18 are 128 apart, which hides a standard deviation
// of 100.
func WarnCoarseTarget(name string, o *solver.Observations) string {
	if o.Low == nil {
		return "" // they are not far from 0
	}
	var sum, squares, largest float64
	n := o.Len()
	for i := range n {
		v := o.Target(i)
		sum += v
		largest = max(largest, math.Abs(v))
	}
	mean := sum / float64(n)
	for i := range n {
		v := o.Target(i)
		squares += (v - mean) * (v - mean)
	}
	deviation := math.Sqrt(squares / float64(n))
	step := math.Nextafter(largest, math.MaxFloat64) - largest
	if step <= maxStep*deviation {
		return ""
	}
	return fmt.Sprintf("the target %s has values up to %.4g and a standard deviation of %.3g, but the 64-bit numbers that store it are %.3g apart at that size, so smaller differences are lost; subtract a constant such as %.6g from the target",
		name, largest, deviation, step, mean)
}
