package calibrate

import "math"

// A countGrid holds the mixture's probabilities of y or less: at every count up
// to denseCounts, by the law's recursion at all nodes of f together, and at
// counts in equal steps of log y beyond, where the sum over a step is that of a
// line. It is scratch on the stack: 5 KiB.
type countGrid struct {
	n     int
	y     [maxGrid]float64
	level [maxGrid]float64
	tails [2]countTail // below and above; unit 0 until it is needed
}

// A countTail is where a layer's score leaves the mixture: see tailScore.
type countTail struct{ at, unit float64 }

const (
	maxGrid     = 320
	denseCounts = 128
	gridEnd     = 1 - 1e-6 // the level at which a grid ends
	gridReach   = 5.5      // standard deviations of f and log y looked at
	maxMixNodes = 160
	mostCount   = 1e15 // a count has no more; beyond, a float64 cannot tell it from the next
)

// fillGrid computes the grid. It costs up to denseCounts times the nodes of f,
// multiplications, and values of the law's CDF at some 20 counts beyond.
func (p Predictive) fillGrid(g *countGrid) {
	g.n, g.tails = 0, [2]countTail{}
	meanAt := p.count.Mean(p.m)
	spread := math.Sqrt(p.model + p.count.Var(p.m)/(meanAt*meanAt)) // of log y, about
	first := math.Exp(p.m - gridReach*spread)
	if !(first > denseCounts) && p.fillDense(g) {
		return
	}
	from := max(first, denseCounts)
	if g.n > 0 {
		from = denseCounts
	}
	p.fillSparse(g, from, spread)
}

// fillSparse fills counts from one on in equal steps of log y. The normal score
// of the level is a smooth function of log y, nearly a line: it is computed at
// every fifth step and cubic between.
func (p Predictive) fillSparse(g *countGrid, from, spread float64) {
	const fine = 5
	origin := math.Log(from)
	steps := maxGrid - g.n - 1
	// The grid must reach the end; the last anchors may lie beyond it.
	step := max(0.15*spread, (p.m+(gridReach+1)*spread-origin)/float64(steps-3*fine))
	var anchor [4]float64 // scores at four anchors in a row, around the second step
	at := func(k int) float64 {
		return normalQuantile(p.mixtureCDF(math.Floor(math.Exp(origin + float64(k*fine)*step))))
	}
	// Scores belong to whole counts; the place of a count is its own logarithm.
	place := func(k int) float64 {
		return (math.Log(math.Floor(math.Exp(origin+float64(k*fine)*step))) - origin) / step
	}
	var where [4]float64
	for i := range anchor {
		anchor[i], where[i] = at(i), place(i)
	}
	level, y, first := 0.0, -1.0, 0
	if g.n > 0 {
		level, y = g.level[g.n-1], g.y[g.n-1]
	}
	for k := 0; g.n < maxGrid; k++ {
		// Interpolate between the middle two anchors, but at the start.
		if k > (first+2)*fine {
			first++
			copy(anchor[:], anchor[1:])
			copy(where[:], where[1:])
			anchor[3], where[3] = at(first+3), place(first+3)
		}
		next := math.Floor(math.Exp(origin + float64(k)*step))
		if next <= y {
			continue
		}
		if next > mostCount {
			g.y[g.n], g.level[g.n] = mostCount, 1
			g.n++
			return
		}
		y = next
		level = max(level, normalCDF(cubic(&where, &anchor, (math.Log(y)-origin)/step)))
		g.y[g.n], g.level[g.n] = y, level
		g.n++
		if level > gridEnd {
			return
		}
	}
}

// cubic returns the polynomial through four points.
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

// fillDense fills counts 0, 1, ... and reports whether that is all of them.
func (p Predictive) fillDense(g *countGrid) bool {
	var prob, a, b [maxMixNodes]float64
	// The fall of the CDF in f must not slip between nodes: see mixtureCDF.
	width := math.Sqrt(p.count.Var(math.Log(denseCounts))) / denseCounts
	step := min(0.5, 1.2*width/max(p.sd, leastSD))
	nodes := min(2*int(math.Ceil(gridReach/step))+1, maxMixNodes)
	step = 2 * gridReach / float64(nodes-1)
	if p.sd < leastSD {
		nodes = 1
	}
	total := 0.0
	for k := range nodes {
		t := 0.0
		if nodes > 1 {
			t = -gridReach + step*float64(k)
		}
		f := p.m + p.sd*t
		l0, l1, l2 := p.count.LogProb(0, f), p.count.LogProb(1, f), p.count.LogProb(2, f)
		r1, r2 := math.Exp(l1-l0), math.Exp(l2-l1)
		a[k], b[k] = 2*r2-r1, 2*(r1-r2)
		w := normalDensity(t)
		total += w
		prob[k] = w * math.Exp(l0)
	}
	level := 0.0
	for y := range denseCounts {
		next := 1 / float64(y+1)
		sum := 0.0
		for k, v := range prob[:nodes] {
			sum += v
			prob[k] = v * (a[k] + b[k]*next)
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

// gridQuantile returns the least y whose level is q or more.
func (p Predictive) gridQuantile(g *countGrid, q float64) float64 {
	low, high := 0, g.n // the answer's place on the grid
	for low < high {
		if mid := (low + high) / 2; g.level[mid] >= q {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low < g.n && g.y[low] < denseCounts {
		return g.y[low]
	}
	guess := g.y[g.n-1]
	if low > 0 && low < g.n {
		// Between two grid points, on the line of normal scores.
		a, b := normalQuantile(g.level[low-1]), normalQuantile(g.level[low])
		share := (normalQuantile(q) - a) / (b - a)
		guess = math.Ceil(g.y[low-1] + share*(g.y[low]-g.y[low-1]))
	}
	return p.around(guess, q)
}

// around returns the least y whose level is q or more, from a guess: it steps
// away from the guess, twice as far each time, and then halves.
func (p Predictive) around(guess, q float64) float64 {
	below, at := guess-1, guess
	if p.mixtureCDF(guess) >= q {
		for step := 1.0; below >= 0 && p.mixtureCDF(below) >= q; step *= 2 {
			below, at = max(below-step, -1), below
		}
	} else {
		below, at = guess, guess+1
		for step := 1.0; at < 1e15 && p.mixtureCDF(at) < q; step *= 2 {
			below, at = at, at+step
		}
	}
	for at-below > 1 {
		if mid := math.Floor((below + at) / 2); p.mixtureCDF(mid) >= q {
			at = mid
		} else {
			below = mid
		}
	}
	return at
}

// gridLevels returns the probabilities of less than y and of y or less, under
// the layer.
func (p Predictive) gridLevels(g *countGrid, y float64) (below, upto float64) {
	return p.layered(g, y-1, p.mixtureAt(g, y-1)), p.layered(g, y, p.mixtureAt(g, y))
}

// mixtureAt is mixtureCDF, read off the grid where that has the count.
func (p Predictive) mixtureAt(g *countGrid, y float64) float64 {
	// The exact part of the grid alone.
	if k := int(y); y >= 0 && y < min(denseCounts, float64(g.n)) && g.y[k] == y {
		return g.level[k]
	}
	return p.mixtureCDF(y)
}

// segments calls visit for runs of counts: each run has length counts starting
// at y, over which the level under the layer goes along a line from a to b, the
// level of the run after. It returns where the last run ends.
func (p Predictive) segments(g *countGrid, visit func(y, length, a, b float64)) float64 {
	y, level := 0.0, 0.0
	run := func(to, mixture float64) {
		next := p.layered(g, to, mixture)
		if to > y {
			visit(y, to-y, level, next)
		}
		y, level = to, next
	}
	for k, to := range g.y[:g.n] {
		run(to, g.level[k])
	}
	if p.law.n > 0 {
		// A layer's tail may be longer than the mixture's, but not for ever.
		_, unit := p.tail(g, 1)
		for k := 0; k < 100 && level < gridEnd; k++ {
			h := rootCount(y) + unit/4
			run(max(y+1, math.Ceil(h*h)), 1)
		}
	}
	return y
}

// gridCRPS returns the sum over counts x of (F(x) - 1{y <= x})^2.
func (p Predictive) gridCRPS(g *countGrid, y float64) float64 {
	sum := 0.0
	end := p.segments(g, func(from, length, a, b float64) {
		if y <= from {
			sum += runSquares(length, a-1, b-1)
			return
		}
		if y >= from+length {
			sum += runSquares(length, a, b)
			return
		}
		before := y - from
		at := a + (b-a)*before/length
		sum += runSquares(before, a, at) + runSquares(length-before, at-1, b-1)
	})
	// Beyond the last run F is 1 but for what no float32 shows.
	return sum + max(y-end, 0)
}

// runSquares sums the squares at 0, 1, ..., length-1 of a line from a at 0 to b
// at length.
func runSquares(length, a, b float64) float64 {
	if length <= 1 {
		return length * a * a
	}
	d := (b - a) / length
	ones, squares := (length-1)/2, (length-1)*(2*length-1)/6
	return length * (a*a + d*(2*a*ones+d*squares))
}

// gridMoments returns mean and variance under the layer:
// E y = sum (1 - F(x)), E y^2 = sum (2x + 1)(1 - F(x)).
func (p Predictive) gridMoments() (mean, variance float64) {
	var g countGrid
	p.fillGrid(&g)
	var second float64
	p.segments(&g, func(from, length, a, b float64) {
		rest := 1 - a
		if length > 1 {
			rest -= (b - a) * (length - 1) / (2 * length)
		}
		mean += length * rest
		second += length * rest * (2*from + length)
	})
	return mean, max(second-mean*mean, 0)
}
