package likelihood

import "math"

const (
	linkSteps    = 2 // Newton steps of Shift and Slope in one call of Learn
	linkHalvings = 5
	minLinkSlope = 0.01
	maxLinkSlope = 4
	sizeMove     = 1.0 // largest change of log Size in one call of Learn
	sizeWidth    = 0.2 // of the parabola through its values
)

// Learn raises the expected log likelihood in Shift and Slope, by Newton steps that are
// halved until it does not fall, and in Size, by a search around its value over the cells
// above 0. It costs about eight times Sites.
func (h Hurdle) Learn(cells Cells, loop Loop) Law {
	for range linkSteps {
		h = h.moveLink(cells, loop)
	}
	h.Size = math.Exp(bestSize(math.Log(h.Size), func(t float64) float64 {
		try := NegativeBinomial{Size: math.Exp(t)}
		constant, truncated := try.constants(), truncations(try.Size)
		return sums(len(cells.Y), loop, func(i int) [3]float64 {
			y, m, v := float64(cells.Y[i]), float64(cells.Mean[i]), float64(cells.Variance[i])
			if y == 0 {
				return [3]float64{}
			}
			return [3]float64{cells.weight(i) * (try.expect(y, m-t, v, constant(y)).Value + truncation(try.Size, m, v, truncated).Value)}
		})[0]
	}))
	return h
}

// bestSize returns a logarithm of a size near the given one whose value is not lower: the
// best of it, of both sides, and of the top of the parabola through the three or, where it
// has none, of a long step uphill. It calls value four times.
func bestSize(now float64, value func(t float64) float64) float64 {
	lowest, highest := math.Log(MinSize), math.Log(MaxSize)
	now = min(max(now, lowest), highest)
	low, high := max(now-sizeWidth, lowest), min(now+sizeWidth, highest)
	best, top := now, value(now)
	atNow, atLow, atHigh := top, value(low), value(high)
	for _, side := range [][2]float64{{low, atLow}, {high, atHigh}} {
		if side[1] > top {
			best, top = side[0], side[1]
		}
	}
	far := now + math.Copysign(sizeMove, atHigh-atLow)
	if curve := atLow + atHigh - 2*atNow; curve < 0 && high-now == now-low {
		far = now + min(max((high-now)/2*(atLow-atHigh)/curve, -sizeMove), sizeMove)
	}
	if far = min(max(far, lowest), highest); value(far) > top {
		best = far
	}
	return best
}

// moveLink takes one step in Shift and Slope. With odds = a + b f, s0, s1, s2 of softplus
// and z = 1 above 0, the expected log likelihood is z (a + b m) - s0, and its derivatives
// are z - s1 by a, (z - s1) m - b v s2 by b.
func (h Hurdle) moveLink(cells Cells, loop Loop) Hurdle {
	at := func(h Hurdle, i int) (above, m, v, s0, s1, s2 float64) {
		m, v = float64(cells.Mean[i]), max(float64(cells.Variance[i]), 0)
		if cells.Y[i] > 0 {
			above = 1
		}
		s0, s1, s2 = softplus(h.Shift+h.Slope*m, h.Slope*h.Slope*v)
		return above, m, v, s0, s1, s2
	}
	first := func(h Hurdle) sums3 {
		return sums(len(cells.Y), loop, func(i int) [3]float64 {
			w := cells.weight(i)
			above, m, v, s0, s1, s2 := at(h, i)
			return [3]float64{w * (above*(h.Shift+h.Slope*m) - s0), w * (above - s1), w * ((above-s1)*m - h.Slope*v*s2)}
		})
	}
	now := first(h)
	second := sums(len(cells.Y), loop, func(i int) [3]float64 {
		w := cells.weight(i)
		_, m, v, _, _, s2 := at(h, i)
		return [3]float64{w * s2, w * s2 * m, w * s2 * (m*m + v)}
	})
	determinant := second[0]*second[2] - second[1]*second[1]
	if !(determinant > 0) {
		return h // f is the same everywhere, or there are no cells
	}
	byShift := (second[2]*now[1] - second[1]*now[2]) / determinant
	bySlope := (second[0]*now[2] - second[1]*now[1]) / determinant
	step := 1.0
	for range linkHalvings {
		try := h
		try.Shift = min(max(h.Shift+step*byShift, -highestLog), highestLog)
		try.Slope = min(max(h.Slope+step*bySlope, minLinkSlope), maxLinkSlope)
		if first(try)[0] >= now[0] {
			return try
		}
		step /= 2
	}
	return h
}

// Parameters returns the logarithm of the size, the shift and the logarithm of the slope.
func (h Hurdle) Parameters() []float64 {
	return []float64{math.Log(h.Size), h.Shift, math.Log(h.Slope)}
}

// At returns the distribution with given parameters.
func (Hurdle) At(p []float64) Law {
	return Hurdle{Size: math.Exp(p[0]), Shift: p[1], Slope: math.Exp(p[2])}
}
