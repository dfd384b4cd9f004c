package train

import (
	"fmt"
	"math"
)

// coarsest is the largest step between neighbouring float32 numbers, as a share of
// the target's standard deviation, at which nothing is said.
const coarsest = 1e-3

// coarseTarget warns where the numbers that hold a target are too coarse for it:
// float32 numbers near 1e9 lie 64 apart, which loses a spread of 100.
func coarseTarget(name string, y []float32) string {
	var sum, squares, most float64
	for _, v := range y {
		sum += float64(v)
		most = max(most, math.Abs(float64(v)))
	}
	mean := sum / float64(len(y))
	for _, v := range y {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	deviation := math.Sqrt(squares / float64(len(y)))
	step := float64(math.Nextafter32(float32(most), math.MaxFloat32)) - most
	if step <= coarsest*deviation {
		return ""
	}
	return fmt.Sprintf("the target %s goes up to %.4g with a standard deviation of %.3g, and is held in 32-bit numbers that lie %.3g apart there: its finer differences are lost; subtract a constant such as %.6g from it before",
		name, most, deviation, step, mean)
}
