package predictive

import (
	"math"
	"slices"
)

// Cells are the integers from 0 as intervals of a transform's scale: cell k is the values
// from k-1/2 to k+1/2, and cell 0 everything below 1/2.
type Cells struct{ edges []float64 }

// NewCells returns the cells of the integers 0 to n-1.
func NewCells(t Transform, n int) *Cells {
	c := &Cells{edges: make([]float64, n)}
	for k := range c.edges {
		c.edges[k] = t.Forward(float64(k) + 0.5)
	}
	return c
}

// leastTail is the probability on either side beyond which cells are not told apart.
const leastTail = 1e-3

// From evenFrom on, evenCells integers that follow each other have the same probability in
// the smooth distribution.
const (
	evenFrom  = 32
	evenCells = 4
)

// A Heaped is the distribution of an integer whose cells have been given other weights,
// and room for the next one. Beyond its last cell it has the shape of the distribution
// that it was made of, rounded.
type Heaped struct {
	First  int       // smallest integer with a weight
	Weight []float64 // of the integers from First; see [Heaped.SetCells]
	// Border divides the integer at the end of an interval: it is inside if the levels claim
	// at least 1 - Border of its probability. 1 makes intervals as wide as they may be.
	Border float64

	sums  []float64 // of the weights up to First+j
	total float64   // of all weights, and of what is beyond the last cell
	curve []float64 // see MapLevels; nil for none
	rest  float64   // P(Y > last cell)
	bare  float64   // the same before the weights were changed
}

// SetCells makes h the distribution over cells; Weight are the probabilities of the cells,
// except that the last probabilities of leastTail on both sides are not told apart. It is
// false if nearly all values are beyond the last cell. A cell costs a few nanoseconds.
func (h *Heaped) SetCells(d *Distribution, c *Cells) bool {
	// Levels are interpolated between tabulated ones; place is the edge of a cell in their table.
	levels, scale := &d.scores.level, 1/(d.sd*levelStep)
	shift := levelReach/levelStep - d.m*scale
	if !(scale > 0 && scale < 1e15 && math.Abs(shift) < 1e15) {
		return false
	}
	place := func(k int) float64 { return c.edges[k]*scale + shift }
	level := func(place float64) float64 {
		i := int(place)
		return levels[i] + (place-float64(i))*(levels[i+1]-levels[i])
	}
	last := len(c.edges) - 1
	k := min(max(int(math.Round(min(max(d.fromScore(0), 0), float64(last)))), 0), last)
	at := level(min(max(place(k), 0), levelCount-2))
	if k == last && at < 0.02 {
		return false
	}
	h.Weight = h.Weight[:0]
	below := at
	for k > 0 { // down to the first
		n := 1
		if k >= evenFrom+evenCells {
			n = evenCells
		}
		next := 0.0
		if p := place(k - n); p >= 0 {
			next = level(min(p, levelCount-2))
		}
		h.add(max(below-next, 0), n)
		below = next
		k -= n
		if below < leastTail {
			break
		}
	}
	if k == 0 {
		h.Weight = append(h.Weight, below)
	} else {
		h.Weight[len(h.Weight)-1] += below
		k++
	}
	h.First = k
	slices.Reverse(h.Weight)
	for k = h.First + len(h.Weight); k <= last && at < 1-leastTail; {
		n := 1
		if k >= evenFrom {
			n = min(evenCells, last-k+1)
		}
		p := place(k + n - 1)
		if p >= levelCount-1 {
			break
		}
		next := level(max(p, 0))
		h.add(max(next-at, 0), n)
		at = next
		k += n
	}
	h.bare = 1 - at
	return true
}

// add divides a probability evenly between the next n cells.
func (h *Heaped) add(probability float64, n int) {
	for range n {
		h.Weight = append(h.Weight, probability/float64(n))
	}
}

// Heap gives the distribution the weights of cells, which need not add up to 1 with what is
// beyond the last cell. It is valid until h changes.
func (d *Distribution) Heap(h *Heaped) {
	h.sums, h.curve = h.sums[:0], nil
	sum := 0.0
	for _, w := range h.Weight {
		sum += w
		h.sums = append(h.sums, sum)
	}
	h.total = sum + h.bare
	if !(h.total > 0) || math.IsInf(h.total, 1) {
		return
	}
	h.rest = 1 - h.level(len(h.sums)-1)
	d.heap = h
}

// MapLevels replaces every level p of a distribution of [Distribution.Heap] by curve(p), a
// non-decreasing function that is given at equal steps from 0 to 1.
func (h *Heaped) MapLevels(curve []float64) {
	h.curve = curve
	h.rest = max(1-h.level(len(h.sums)-1), 0)
}

// level returns P(Y <= First+j).
func (h *Heaped) level(j int) float64 {
	p := min(h.sums[j]/h.total, 1)
	if h.curve == nil {
		return p
	}
	at := p * float64(len(h.curve)-1)
	i := min(int(at), len(h.curve)-2)
	return h.curve[i] + (at-float64(i))*(h.curve[i+1]-h.curve[i])
}

// bareLevel returns the level, before weights were changed, of a level beyond the last cell.
func (h *Heaped) bareLevel(p float64) float64 {
	return 1 - min((1-p)/h.rest, 1)*h.bare
}

// heapQuantile returns the smallest integer k with P(Y <= k) >= p; below the median k+1, and
// above the median k-1, if too small a share of P(Y = k) is on the median's side of p. With the
// smallest integer alone, 90 % intervals would hold more than 90 % of values that are heaped.
func (d *Distribution) heapQuantile(p float64) float64 {
	h := d.heap
	n := len(h.sums)
	if p > 1-h.rest && h.rest > 0 {
		return max(math.Round(d.fromScore(d.scores.Quantile(min(h.bareLevel(p), 1-1e-15)))), float64(h.First+n))
	}
	k := h.cell(p)
	below := 0.0
	if k > 0 {
		below = h.level(k - 1)
	}
	switch high, low := HeapedLimits(below, h.level(k), h.Border); {
	case p < 0.5 && p > low:
		k++
	case p > 0.5 && p < high && k > 0:
		k--
	}
	return float64(h.First + k)
}

// cell returns the place of the smallest integer with a level of at least p, the last if
// there is none.
func (h *Heaped) cell(p float64) int {
	low, high := 0, len(h.sums)-1
	for low < high {
		if mid := (low + high) / 2; h.level(mid) >= p {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// IntervalLimits returns levels that tell whether y is inside the interval of two quantiles:
// its upper level must be above the first one, and its lower level at most the second one.
// They are P(Y < y) and P(Y <= y), except for heaped integers.
func (d Distribution) IntervalLimits(y float64) (below, upTo float64) {
	below, upTo = d.CDFLimits(y)
	if d.heap != nil {
		return HeapedLimits(below, upTo, d.heap.Border)
	}
	return below, upTo
}

// HeapedLimits is [Distribution.IntervalLimits] of a heaped integer with P(Y < y), P(Y <= y)
// and a given Border. The median is in every interval.
func HeapedLimits(below, upTo, border float64) (high, low float64) {
	high, low = below, upTo
	part := (upTo - below) * (1 - border)
	if upTo < 0.5 {
		low = upTo - part
	}
	if below >= 0.5 {
		high = below + part
	}
	return high, low
}

// heapLevel returns P(Y <= y).
func (d *Distribution) heapLevel(y float64) float64 {
	h := d.heap
	y = math.Floor(y)
	switch k := y - float64(h.First); {
	case k < 0:
		return 0
	case k < float64(len(h.sums)):
		return h.level(int(k))
	case h.bare == 0:
		return 1
	}
	above := 1 - d.scores.CDF((d.transform.Forward(y+0.5)-d.m)/d.sd)
	return max(1-h.rest*min(above/h.bare, 1), h.level(len(h.sums)-1))
}

// restSteps is the number of intervals of levels beyond the last cell. The share above the
// k-th is (1 - k/restSteps)^3, which makes them short in the tail.
const restSteps = 40

// heapCRPS returns the CRPS, 2 int (1{y < Q(p)} - p) (Q(p) - y) dp, as a sum over cells and
// over intervals of levels beyond them.
func (d *Distribution) heapCRPS(y float64) float64 {
	h := d.heap
	sum := 0.0
	add := func(value, from, to float64) {
		side := -(from + to) / 2
		if y < value {
			side++
		}
		sum += side * (to - from) * (value - y)
	}
	from := 0.0
	for j := range h.sums {
		to := h.level(j)
		add(float64(h.First+j), from, to)
		from = to
	}
	h.beyond(d, add)
	return 2 * sum
}

// beyond calls visit for intervals of levels beyond the last cell and the value of each.
func (h *Heaped) beyond(d *Distribution, visit func(value, from, to float64)) {
	if h.rest <= leastTail {
		if h.rest > 0 {
			visit(d.heapQuantile(1-h.rest/2), h.level(len(h.sums)-1), 1)
		}
		return
	}
	left := 1.0
	for k := range restSteps {
		next := 1 - float64(k+1)/restSteps
		next *= next * next
		middle := 1 - h.rest*(left+next)/2
		visit(max(d.fromScore(d.scores.Quantile(h.bareLevel(middle))), float64(h.First+len(h.sums))), 1-h.rest*left, 1-h.rest*next)
		left = next
	}
}

// Rest returns the probability beyond the last cell, before weights were changed.
func (h *Heaped) Rest() float64 { return h.bare }
