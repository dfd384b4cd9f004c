package dynamics

import (
	"math/rand/v2"
	"slices"
)

// At writes mean and variance of the slices at steps in any order; variance may be nil.
func (p *Paths) At(steps []int32, mean, variance []float32) {
	n := p.Entries()
	sorted, place := order(steps)
	m, v := make([]float32, len(sorted)), make([]float32, len(sorted))
	for k := range n {
		p.process(k).NewReader().At(0, sorted, m, v)
		for i, at := range place {
			mean[i*n+k] = m[at]
			if variance != nil {
				variance[i*n+k] = v[at]
			}
		}
	}
}

// Draw writes a draw of the slices at steps, in any order, to dst. stream returns the
// random numbers of an entry; the same numbers give the same path whatever steps are asked
// for. The precision that the data give is divided by a factor of 1 or more, see
// tt.Posterior.Widened; the mean stays the same.
func (p *Paths) Draw(stream func(entry int) *rand.Rand, factor float64, steps []int32, dst []float32) {
	n := p.Entries()
	sorted, place := order(steps)
	x, mean, variance := make([]float32, len(sorted)), make([]float32, len(sorted)), make([]float32, len(sorted))
	for k := range n {
		s := p.process(k)
		if factor > 1 { // a draw of the deviation from the mean
			s.NewReader().At(0, sorted, mean, variance)
			clear(s.Value)
			for t := range s.Precision {
				s.Precision[t] /= float32(factor)
			}
		}
		s.NewReader().Draw(stream(k), 0, sorted, x)
		for i, at := range place {
			dst[i*n+k] = mean[at] + x[at]
		}
	}
}

// order returns the distinct steps in ascending order, and the place of each among them.
func order(steps []int32) (sorted []int32, place []int) {
	sorted = slices.Compact(slices.Sorted(slices.Values(steps)))
	place = make([]int, len(steps))
	for i, s := range steps {
		place[i], _ = slices.BinarySearch(sorted, s)
	}
	return sorted, place
}
