package predictive

import (
	"math"
)

// Heap gives the distribution the weights of cells, which need not add up to 1 with what is
// beyond the last cell. It is valid until h changes.
func (d *Distribution) Heap(h *Heaped) {
	if cap(h.sums) < len(h.Weight) {
		h.sums = make([]float64, 2*len(h.Weight))
	}
	h.sums, h.curve = h.sums[:len(h.Weight)], nil
	h.total = accumulate(h.sums, h.Weight) + h.bare
	if !(h.total > 0) || math.IsInf(h.total, 1) {
		return
	}
	h.rest = 1 - h.level(len(h.sums)-1)
	d.heap = h
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
	k := min(count(h.sums, unmapped*h.total), n-1) // but for rounding
	if p == 0.5 {
		return float64(h.First + k)
	}
	below, upTo := 0.0, h.level(k)
	if k > 0 {
		below = h.level(k - 1)
	}
	switch high, low := HeapedLimits(below, upTo, h.Border); {
	case p < 0.5 && p > low:
		k++
	case p > 0.5 && p < high && k > 0:
		k--
	}
	return float64(h.First + k)
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
