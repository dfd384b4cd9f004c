package predictive

import (
	"math"
	"sort"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Cells are the integers from 0 as intervals of a transform's scale: cell k is the values
// from k-1/2 to k+1/2, and cell 0 everything below 1/2.
type Cells struct {
	edges []float64
	every [evenCells][]float64 // edges r, r + evenCells, ... for each r
}

// NewCells returns the cells of the integers 0 to n-1.
func NewCells(t targetscale.Transform, n int) *Cells {
	c := &Cells{edges: make([]float64, n)}
	for k := range c.edges {
		c.edges[k] = t.Forward(float64(k) + 0.5)
		c.every[k%evenCells] = append(c.every[k%evenCells], c.edges[k])
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

	room          []float64 // of Weight, by integer
	count         []float64 // of Temper, by integer; 0 between calls
	levels, steps []float64 // levels of edges, and their differences
	last          int       // middle of the last distribution
	sums          []float64 // of the weights up to First+j
	total         float64   // of all weights, and of what is beyond the last cell
	curve         []float64 // see MapLevels; nil for none
	rest          float64   // P(Y > last cell)
	bare          float64   // the same before the weights were changed
}

// SetCells makes h the distribution over cells; Weight are the probabilities of the cells,
// except that the last probabilities of leastTail on both sides are not told apart. It is
// false if nearly all values are beyond the last cell. A cell costs a few nanoseconds.
func (h *Heaped) SetCells(d *Distribution, c *Cells) bool {
	// Levels are interpolated between tabulated ones; place is the edge of a cell in their table.
	scale := 1 / (d.sd * levelStep)
	shift := levelReach/levelStep - d.m*scale
	if !(scale > 0 && scale < 1e15 && math.Abs(shift) < 1e15) {
		return false
	}
	last := len(c.edges) - 1
	if len(h.levels) <= last {
		const beyond = cellLanes * evenCells // of the last cell; see even
		h.room, h.levels, h.steps = make([]float64, last+1+beyond), make([]float64, last+1), make([]float64, last+1)
	}
	k := h.middle(d, c)
	var first int
	var at float64 // level of cell k
	if k < min(evenFrom+evenCells, last+1) {
		cellLevels(h.levels, h.room, c.edges[:min(max(evenFrom, k+1), last+1)], &d.scores.level, scale, shift, 0)
		first, at = h.firstSingle(k), h.levels[k]
	} else {
		first, at = h.below(d, c, k, scale, shift)
	}
	if k == last && at < 0.02 {
		return false
	}
	end := h.above(d, c, k, at, scale, shift)
	h.First, h.Weight = first, h.room[first:end]
	return true
}

// firstSingle returns the first of the single cells up to k that is told apart, given their levels
// and weights, and adds the probability below it to its weight.
func (h *Heaped) firstSingle(k int) int {
	first := count(h.levels[:k], leastTail)
	if first < 2 {
		return 0
	}
	h.room[first] += h.levels[first-1]
	return first
}

// below sets the weights of the cells up to k, which are groups and, below them, single ones. It
// returns the first cell and the level of k.
func (h *Heaped) below(d *Distribution, c *Cells, k int, scale, shift float64) (first int, at float64) {
	g := (k - evenFrom) / evenCells // groups down to the single cells
	cellLevels(h.levels, h.steps, c.every[k%evenCells][k/evenCells-g:][:g+1], &d.scores.level, scale, shift, 0)
	at, first = h.levels[g], k
	for {
		evenGo(h.room[first-evenCells+1:], h.steps[g:g+1])
		first -= evenCells
		g--
		switch below := h.levels[g]; {
		case below < leastTail:
			first++
			h.room[first] += below
			return first, at
		case g == 0:
			cellLevels(h.levels, h.room, c.edges[:first], &d.scores.level, scale, shift, 0)
			h.room[first] = max(below-h.levels[first-1], 0)
			return h.firstSingle(first), at
		}
	}
}

// above sets the weights of the cells above k, whose level is given, unless they are single ones. It returns
// the end of the cells, and sets the probability beyond them.
func (h *Heaped) above(d *Distribution, c *Cells, k int, at, scale, shift float64) (end int) {
	const high = 1 - leastTail
	far := d.m + levelReach*d.sd // the end of the table of levels
	last := len(c.edges) - 1
	end = k + 1
	if end < evenFrom {
		end = max(end, reach(h.levels[:min(evenFrom, last+1)], c.edges, high, far))
		at = h.levels[end-1]
	}
	if end >= evenFrom {
		every := c.every[(end-1)%evenCells][(end-1)/evenCells+1:]
		for len(every) > 0 && at < high && every[0] < far {
			some := every[:min(cellLanes, len(every))]
			every = every[len(some):]
			cellLevels(h.levels, h.steps, some, &d.scores.level, scale, shift, at)
			even(h.room[end:], h.steps[:len(some)])
			n := reach(h.levels[:len(some)], some, high, far)
			at = h.levels[n-1]
			end += n * evenCells
		}
		if len(every) == 0 && end <= last && at < high && c.edges[last] < far {
			cellLevels(h.levels, h.steps, c.edges[last:], &d.scores.level, scale, shift, at)
			at = h.levels[0]
			for n := float64(last + 1 - end); end <= last; end++ {
				h.room[end] = h.steps[0] / n
			}
		}
	}
	h.bare = 1 - at
	return end
}

// reach returns the number of cells up to the first level of at least high, of those whose edges are below far.
func reach(levels, edges []float64, high, far float64) int {
	n := min(count(levels, high)+1, len(levels))
	if edges[n-1] < far {
		return n
	}
	return count(edges[:n], far)
}

// StepFactors are the factors of sums of three steps, each from 0 to 255.
type StepFactors struct {
	All   [3*math.MaxUint8 + 1]float64
	parts stepParts // All[s] is parts.low[s%16] * parts.middle[s/16%16] * parts.high[s/256]
}

// stepParts are what vectors take factors from. The assembly knows the order of the fields.
type stepParts struct {
	low, middle [16]float64
	high        [8]float64
}

// NewStepFactors returns the factors exp((sum - none)/perUnit).
func NewStepFactors(perUnit, none float64) *StepFactors {
	f := &StepFactors{}
	for i := range 16 {
		f.parts.low[i], f.parts.middle[i] = math.Exp((float64(i)-none)/perUnit), math.Exp(float64(16*i)/perUnit)
	}
	for i := range 3 {
		f.parts.high[i] = math.Exp(float64(256*i) / perUnit)
	}
	for s := range f.All {
		f.All[s] = f.parts.low[s%16] * f.parts.middle[s/16%16] * f.parts.high[s/256]
	}
	return f
}

// MultiplySteps multiplies the weight of each integer k by factors.All[a[k]+b[k]+c[k]]. The steps
// must have StepRoom more elements than there are integers.
func (h *Heaped) MultiplySteps(factors *StepFactors, a, b, c []uint8) {
	multiply(h.Weight, a[h.First:], b[h.First:], c[h.First:], factors)
}

// StepRoom is what vectors may read beyond the last step.
const StepRoom = cellLanes - 1

// Temper multiplies the weight w of each integer by (count + c) / (n w/total + c), with the counts of
// some values, in increasing order, 0 for all others, n the sum of the counts, and the total of all weights and what
// is beyond the last cell.
func (h *Heaped) Temper(values, counts []uint8, c float64) {
	n := 0.0
	for _, count := range counts {
		n += float64(count)
	}
	total := h.bare + totalWeight(h.Weight)
	if !(total > 0) {
		return
	}
	if len(h.count) < len(h.room) {
		h.count = make([]float64, max(len(h.room), 256))
	}
	for i, v := range values {
		h.count[v] = float64(counts[i])
	}
	temper(h.Weight, h.count[h.First:], n/total, c)
	for _, v := range values {
		h.count[v] = 0
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
