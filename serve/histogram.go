package serve

import (
	"encoding/json"
	"math"

	"github.com/kernel-fried-tensor/kft"
)

// histogramSteps is the number of steps of a histogram.
const histogramSteps = 48

// histogramOf returns the probabilities of steps of equal width that contain 99 % of a
// distribution. A step holds the values above its lower edge, up to its upper one; the
// first one holds its lower edge as well, where a distribution may have an atom. The edges
// of counts are whole numbers.
func histogramOf(d kft.Distribution) (edges, probabilities []float64) {
	low, high := d.Quantile(0.005), d.Quantile(0.995)
	steps := histogramSteps
	if d.IsCount() {
		width := math.Ceil((high - low + 1) / histogramSteps)
		steps = int(math.Ceil((high - low + 1) / width))
		low, high = low-1, low-1+width*float64(steps)
	}
	if !(high > low) {
		margin := max(math.Abs(low)*1e-6, 1e-6)
		low, high = low-margin, high+margin
	}
	edges, probabilities = make([]float64, steps+1), make([]float64, steps)
	for i := range edges {
		edges[i] = low + (high-low)*float64(i)/float64(steps)
	}
	before, _ := d.CDFLimits(low)
	if d.IsCount() {
		before = d.CDF(low)
	}
	for i := range probabilities {
		upTo := min(max(d.CDF(edges[i+1]), before), 1)
		probabilities[i] = upTo - before
		before = upTo
	}
	return edges, probabilities
}

// appendValue appends any value as JSON.
func appendValue(text []byte, value any) ([]byte, error) {
	more, err := json.Marshal(value)
	return append(text, more...), err
}
