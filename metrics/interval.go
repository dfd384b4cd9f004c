package metrics

// IntervalLevels are the levels 1-2a of the central intervals that are measured.
var IntervalLevels = [5]float64{.9, .7, .5, .3, .1}

// lowerLevels and upperLevels are the levels a and 1-a of the ends of the intervals.
var (
	lowerLevels = [len(IntervalLevels)]float64{.05, .15, .25, .35, .45}
	upperLevels = [len(IntervalLevels)]float64{.95, .85, .75, .65, .55}
)

// insideIntervals reports, for each of IntervalLevels, whether a value lies in the
// closed central interval, from P(Y < y) and P(Y <= y). Q(a) <= y is equivalent to
// P(Y <= y) >= a. y <= Q(1-a) is equivalent to P(Y < y) < 1-a, or <= 1-a for
// continuous distributions.
func insideIntervals(below, upTo float64) (hits [len(IntervalLevels)]bool) {
	for i := range IntervalLevels {
		a, b := lowerLevels[i], upperLevels[i]
		hits[i] = upTo >= a && (below < b || below == upTo && below == b)
	}
	return hits
}

// pinball returns the loss of q as the quantile at a level,
// (level - 1{y < q}) (y - q).
func pinball(level, q, y float64) float64 {
	if y < q {
		return (1 - level) * (q - y)
	}
	return level * (y - q)
}

// winkler returns the interval score of [low, high] as a central interval with miss
// probability miss: its width, plus 2/miss times the distance from y to the interval.
func winkler(miss, low, high, y float64) float64 {
	return high - low + 2/miss*(max(low-y, 0)+max(y-high, 0))
}

// coverage counts the rows inside the 90 % interval.
type coverage struct {
	n            int
	weight, hits float64
}

func (c *coverage) add(w float64, hit bool) {
	c.n++
	c.weight += w
	if hit {
		c.hits += w
	}
}

func (c *coverage) merge(o coverage) {
	c.n += o.n
	c.weight += o.weight
	c.hits += o.hits
}

func (c coverage) share() float64 { return c.hits / c.weight }
