package predictive

import (
	"math"
	"sort"
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

	room  []float64 // of Weight, by integer
	last  int       // middle of the last distribution
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
	edges := c.edges
	last := len(edges) - 1
	if len(h.room) <= last {
		h.room = make([]float64, last+1)
	}
	weight := h.room[:last+1]
	k := h.middle(d, c)
	place := edges[k]*scale + shift
	at := levels.at(min(place, levelCount-2))
	if k == last && at < 0.02 {
		return false
	}
	below, first := at, k
	for first > 0 && (first == k || below >= leastTail) { // down to the first
		n := 1
		if first >= evenFrom+evenCells {
			n = evenCells
		}
		next := 0.0
		if place = edges[first-n]*scale + shift; place >= 0 {
			if place > levelCount-2 {
				place = levelCount - 2
			}
			next = levels.at(place)
		}
		setEven(weight, first-n+1, n, below-next)
		below = next
		first -= n
	}
	if first == 0 {
		weight[0] = below
	} else {
		first++
		weight[first] += below
	}
	end := k + 1
	for end <= last && at < 1-leastTail {
		n := 1
		if end >= evenFrom {
			n = min(evenCells, last-end+1)
		}
		if place = edges[end+n-1]*scale + shift; place >= levelCount-1 {
			break
		}
		next := levels.at(place)
		setEven(weight, end, n, next-at)
		at = next
		end += n
	}
	h.First, h.Weight = first, weight[first:end]
	h.bare = 1 - at
	return true
}

// setEven divides a probability evenly between n cells from the given one on.
func setEven(weight []float64, from, n int, probability float64) {
	if probability < 0 {
		probability = 0
	}
	if n == 1 {
		weight[from] = probability
		return
	}
	probability /= float64(n)
	for i := range n {
		weight[from+i] = probability
	}
}

// middle returns the cell of the score 0.
func (h *Heaped) middle(d *Distribution, c *Cells) int {
	last := len(c.edges) - 1
	if few := min(last, evenFrom-1); d.m < c.edges[few] {
		// Among the first cells each has a probability of its own, so that it does not matter
		// which of two cells it is if m is at their border. That of the last row is often near.
		k := min(h.last, few)
		for c.edges[k] < d.m {
			k++
		}
		for k > 0 && c.edges[k-1] >= d.m {
			k--
		}
		h.last = k
		return k
	}
	return min(max(int(math.Round(min(max(d.fromScore(0), 0), float64(last)))), 0), last)
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
	return d.heapQuantileAt(p, d.heap.unmapped(p))
}

// heapQuantileAt is heapQuantile, given unmapped(p).
func (d *Distribution) heapQuantileAt(p, unmapped float64) float64 {
	h := d.heap
	n := len(h.sums)
	if p > 1-h.rest && h.rest > 0 {
		return max(math.Round(d.fromScore(d.scores.Quantile(min(h.bareLevel(p), 1-1e-15)))), float64(h.First+n))
	}
	k, below, upTo := h.cell(p, unmapped)
	switch high, low := HeapedLimits(below, upTo, h.Border); {
	case p < 0.5 && p > low:
		k++
	case p > 0.5 && p < high && k > 0:
		k--
	}
	return float64(h.First + k)
}

// cell returns the place k of the smallest integer with a level of at least p, the last if
// there is none, and the levels of k-1 and k.
func (h *Heaped) cell(p, unmapped float64) (k int, below, upTo float64) {
	// The place of the sum that belongs to p, but for rounding.
	sum := unmapped * h.total
	n := len(h.sums)
	last := n - 1
	for n > 1 {
		half := n / 2
		if h.sums[k+half-1] < sum {
			k += half
		}
		n -= half
	}
	for upTo = h.level(k); upTo < p && k < last; upTo = h.level(k) {
		k++
	}
	for ; k > 0; k-- {
		if below = h.level(k - 1); below < p {
			return k, below, upTo
		}
		upTo = below
	}
	return 0, 0, upTo
}

// unmapped returns a level that the curve maps to p, but for rounding.
func (h *Heaped) unmapped(p float64) float64 {
	if h.curve == nil {
		return p
	}
	i := sort.SearchFloat64s(h.curve, p)
	if i == 0 || i == len(h.curve) {
		return p
	}
	a, b := h.curve[i-1], h.curve[i]
	return (float64(i-1) + (p-a)/(b-a)) / float64(len(h.curve)-1)
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
