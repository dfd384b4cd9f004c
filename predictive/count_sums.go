package predictive

import "math"

// segments calls visit for consecutive runs of counts. A run has length counts that
// start at y. Over it, the CDF under the score distribution is linear from a to b,
// where b is the value at the start of the next run. segments returns the end of the
// last run.
func (d Distribution) segments(g *countGrid, visit func(y, length, a, b float64)) float64 {
	y, level := 0.0, 0.0
	run := func(to, mixture float64) {
		next := d.correctedCDF(g, to, mixture)
		if to > y {
			visit(y, to-y, level, next)
		}
		y, level = to, next
	}
	for k, to := range g.y[:g.n] {
		run(to, g.level[k])
	}
	if d.scores.n > 0 {
		// The tail of the score distribution may be longer than that of the mixture.
		// The number of further runs is limited.
		_, unit := d.tail(g, 1)
		for k := 0; k < 100 && level < gridEnd; k++ {
			h := rootCount(y) + unit/4
			run(max(y+1, math.Ceil(h*h)), 1)
		}
	}
	return y
}

// gridCRPS returns the sum over counts x of (F(x) - 1{y <= x})^2.
func (d Distribution) gridCRPS(g *countGrid, y float64) float64 {
	sum := 0.0
	end := d.segments(g, func(from, length, a, b float64) {
		if y <= from {
			sum += sumSquares(length, a-1, b-1)
			return
		}
		if y >= from+length {
			sum += sumSquares(length, a, b)
			return
		}
		before := y - from
		at := a + (b-a)*before/length
		sum += sumSquares(before, a, at) + sumSquares(length-before, at-1, b-1)
	})
	// Beyond the last run F is 1 to within float32 precision.
	return sum + max(y-end, 0)
}

// sumSquares sums the squares at 0, 1, ..., length-1 of the line that has the value a
// at 0 and b at length.
func sumSquares(length, a, b float64) float64 {
	if length <= 1 {
		return length * a * a
	}
	slope := (b - a) / length
	mean, meanSquare := (length-1)/2, (length-1)*(2*length-1)/6
	return length * (a*a + slope*(2*a*mean+slope*meanSquare))
}

// gridMoments returns mean and variance under the score distribution, by
// E y = sum (1 - F(x)) and E y^2 = sum (2x + 1)(1 - F(x)).
func (d Distribution) gridMoments(g *countGrid) (mean, variance float64) {
	var second float64
	d.segments(g, func(from, length, a, b float64) {
		rest := 1 - a
		if length > 1 {
			rest -= (b - a) * (length - 1) / (2 * length)
		}
		mean += length * rest
		second += length * rest * (2*from + length)
	})
	return mean, max(second-mean*mean, 0)
}
