package predictive

import "math"

// A countGrid holds probabilities P(Y <= y) of the mixture: at every count below
// denseCounts, by the recursion of the count distribution at all nodes of f together,
// and beyond that at counts in equal steps of log y, between which sums use linear
// interpolation. It is scratch space on the stack, of 5 KiB.
type countGrid struct {
	n     int
	y     [maxGrid]float64
	level [maxGrid]float64
	tails [2]countTail // lower and upper; unit 0 means not computed yet
}

// A countTail is where S continues linearly; see tailScore.
type countTail struct{ at, unit float64 }

const (
	maxGrid     = 320
	denseCounts = 128
	gridEnd     = 1 - 1e-6 // the level at which a grid ends
	gridReach   = 5.5      // range of f and log y, in standard deviations
	maxMixNodes = 160
	maxCount    = 1e15 // below 2^53, above which float64 cannot represent every count
)

// fillGrid computes the grid. It costs up to denseCounts times the number of nodes of
// f multiplications, and the CDF of the mixture at about 20 larger counts.
func (d Distribution) fillGrid(g *countGrid) {
	g.n, g.tails = 0, [2]countTail{}
	base, modified := d.base()
	meanAt := base.Mean(d.m)
	spread := math.Sqrt(d.model + base.Var(d.m)/(meanAt*meanAt)) // of log y, approximately
	first := math.Exp(d.m - gridReach*spread)
	if !(first > denseCounts) && d.fillDense(g) {
		return
	}
	from := max(first, denseCounts)
	if g.n > 0 {
		from = denseCounts
	}
	if modified && g.n == 0 {
		g.level[0], g.n = d.mixtureCDF(0), 1
	}
	d.fillSparse(g, from, spread)
}

// fillDense fills counts 0, 1, ... and reports whether they complete the grid.
func (d Distribution) fillDense(g *countGrid) bool {
	var prob, one, a, b [maxMixNodes]float64
	base, modified := d.base()
	// The nodes must resolve the decrease of the CDF in f; see mixtureCDF.
	width := math.Sqrt(base.Var(math.Log(denseCounts))) / denseCounts
	step := min(0.5, 1.2*width/max(d.sd, minSD))
	nodes := min(2*int(math.Ceil(gridReach/step))+1, maxMixNodes)
	step = 2 * gridReach / float64(nodes-1)
	if d.sd < minSD {
		nodes = 1
	}
	total := 0.0
	for k := range nodes {
		t := 0.0
		if nodes > 1 {
			t = -gridReach + step*float64(k)
		}
		f := d.m + d.sd*t
		l0, l1, l2 := base.LogProb(0, f), base.LogProb(1, f), base.LogProb(2, f)
		r1, r2 := math.Exp(l1-l0), math.Exp(l2-l1)
		a[k], b[k] = 2*r2-r1, 2*(r1-r2)
		w := normalDensity(t)
		total += w
		prob[k] = w * math.Exp(d.count.LogProb(0, f))
		if modified {
			one[k] = w * math.Exp(d.count.LogProb(1, f))
		}
	}
	level := 0.0
	for y := range denseCounts {
		next := 1 / float64(y+1)
		sum := 0.0
		for k, v := range prob[:nodes] {
			sum += v
			prob[k] = v * (a[k] + b[k]*next)
		}
		if modified && y == 0 {
			prob = one
		}
		level = min(level+sum/total, 1)
		g.y[g.n], g.level[g.n] = float64(y), level
		g.n++
		if level > gridEnd {
			return true
		}
	}
	return false
}

// fillSparse fills counts starting at from, in equal steps of log y. The normal score
// of the level is smooth and almost linear in log y: it is computed at every fifth
// step, called an anchor, and interpolated by cubics. If 0 has a probability of its own,
// this is the level among counts above 0.
func (d Distribution) fillSparse(g *countGrid, from, spread float64) {
	const fine = 5
	origin := math.Log(from)
	steps := maxGrid - g.n - 1
	// The grid must reach its end; the last anchors may lie beyond it.
	step := max(0.15*spread, (d.m+(gridReach+1)*spread-origin)/float64(steps-3*fine))
	zero := 0.0
	if _, modified := d.base(); modified {
		zero = g.level[0]
	}
	scoreAt := func(k int) float64 {
		level := d.mixtureCDF(math.Floor(math.Exp(origin + float64(k*fine)*step)))
		if zero > 0 {
			level = min(max((level-zero)/(1-zero), 1e-9), 1-1e-12)
		}
		return normalQuantile(level)
	}
	// Scores belong to whole counts, so the position of an anchor is the logarithm of
	// its rounded count.
	positionOf := func(k int) float64 {
		return (math.Log(math.Floor(math.Exp(origin+float64(k*fine)*step))) - origin) / step
	}
	var anchor, position [4]float64 // scores and positions of four consecutive anchors
	for i := range anchor {
		anchor[i], position[i] = scoreAt(i), positionOf(i)
	}
	level, y, first := 0.0, -1.0, 0
	if g.n > 0 {
		level, y = g.level[g.n-1], g.y[g.n-1]
	}
	for k := 0; g.n < maxGrid; k++ {
		// Interpolate between the middle two anchors, except at the start.
		if k > (first+2)*fine {
			first++
			copy(anchor[:], anchor[1:])
			copy(position[:], position[1:])
			anchor[3], position[3] = scoreAt(first+3), positionOf(first+3)
		}
		next := math.Floor(math.Exp(origin + float64(k)*step))
		if next <= y {
			continue
		}
		if next > maxCount {
			g.y[g.n], g.level[g.n] = maxCount, 1
			g.n++
			return
		}
		y = next
		level = max(level, zero+(1-zero)*normalCDF(cubic(&position, &anchor, (math.Log(y)-origin)/step)))
		g.y[g.n], g.level[g.n] = y, level
		g.n++
		if level > gridEnd {
			return
		}
	}
}

// cubic evaluates the polynomial through four points.
func cubic(x, f *[4]float64, at float64) float64 {
	sum := 0.0
	for i := range x {
		term := f[i]
		for j := range x {
			if i != j {
				term *= (at - x[j]) / (x[i] - x[j])
			}
		}
		sum += term
	}
	return sum
}

// gridQuantile returns the smallest y whose level in the mixture is at least p.
func (d Distribution) gridQuantile(g *countGrid, p float64) float64 {
	low, high := 0, g.n // bounds of the position on the grid
	for low < high {
		if mid := (low + high) / 2; g.level[mid] >= p {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low < g.n && g.y[low] < denseCounts {
		return g.y[low]
	}
	guess := g.y[g.n-1]
	if low > 0 && low < g.n && g.level[low-1] > 0 && g.y[low] < maxCount {
		// Between two grid points, linear in the normal score.
		a, b := normalQuantile(g.level[low-1]), normalQuantile(g.level[low])
		share := (normalQuantile(p) - a) / (b - a)
		guess = math.Ceil(g.y[low-1] + share*(g.y[low]-g.y[low-1]))
	}
	return d.searchQuantile(guess, p)
}

// searchQuantile returns the smallest y whose level in the mixture is at least p. It
// starts at a guess, doubles its steps until it brackets the answer, and bisects.
func (d Distribution) searchQuantile(guess, p float64) float64 {
	below, at := guess-1, guess
	if d.mixtureCDF(guess) >= p {
		for step := 1.0; below >= 0 && d.mixtureCDF(below) >= p; step *= 2 {
			below, at = max(below-step, -1), below
		}
	} else {
		below, at = guess, guess+1
		for step := 1.0; at < maxCount && d.mixtureCDF(at) < p; step *= 2 {
			below, at = at, at+step
		}
	}
	for at-below > 1 {
		if mid := math.Floor((below + at) / 2); d.mixtureCDF(mid) >= p {
			at = mid
		} else {
			below = mid
		}
	}
	return at
}

// gridCDFLimits returns P(Y < y) and P(Y <= y) under the score distribution.
func (d Distribution) gridCDFLimits(g *countGrid, y float64) (below, upTo float64) {
	return d.correctedCDF(g, y-1, d.mixtureAt(g, y-1)), d.correctedCDF(g, y, d.mixtureAt(g, y))
}

// mixtureAt is mixtureCDF, read from the dense part of the grid where possible.
func (d Distribution) mixtureAt(g *countGrid, y float64) float64 {
	if k := int(y); y >= 0 && y < min(denseCounts, float64(g.n)) && g.y[k] == y {
		return g.level[k]
	}
	return d.mixtureCDF(y)
}
