package train

import (
	"fmt"
	"math"
)

// maxStep is the largest distance between neighbouring float32 numbers, as a share of the
// target's standard deviation, that needs no warning.
const maxStep = 1e-3

// warnCoarseTarget returns a warning if float32 is too coarse for a target, otherwise "".
// For example, float32 numbers near 1e9 are 64 apart, which hides a standard deviation
// of 100.
func warnCoarseTarget(name string, y []float32) string {
	var sum, squares, largest float64
	for _, v := range y {
		sum += float64(v)
		largest = max(largest, math.Abs(float64(v)))
	}
	mean := sum / float64(len(y))
	for _, v := range y {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	deviation := math.Sqrt(squares / float64(len(y)))
	step := float64(math.Nextafter32(float32(largest), math.MaxFloat32)) - largest
	if step <= maxStep*deviation {
		return ""
	}
	return fmt.Sprintf("the target %s has values up to %.4g and a standard deviation of %.3g, but the 32-bit numbers that store it are %.3g apart at that size, so smaller differences are lost; subtract a constant such as %.6g from the target",
		name, largest, deviation, step, mean)
}
