package figure

import (
	"math"
	"strconv"
)

// axes is an area of a figure with a linear scale in both directions.
type axes struct {
	f                      *Figure
	x, y, w, h             float64 // of the area
	xMin, xMax, yMin, yMax float64
}

// across returns the horizontal position of a value, up the vertical one.
func (a *axes) across(v float64) float64 { return a.x + (v-a.xMin)/(a.xMax-a.xMin)*a.w }
func (a *axes) up(v float64) float64     { return a.y + a.h - (v-a.yMin)/(a.yMax-a.yMin)*a.h }

// spread returns a range that contains all finite values and is not empty.
func spread(values ...float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	switch {
	case low > high:
		return 0, 1
	case high-low < 1e-12*max(math.Abs(low), math.Abs(high), 1e-300):
		half := max(math.Abs(low)/2, 0.5)
		return low - half, high + half
	}
	return low, high
}

// ticks returns round numbers in a range, at most about n.
func ticks(low, high float64, n int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*factor) <= float64(n) {
			step *= factor
			break
		}
	}
	var out []float64
	for k := math.Ceil(low/step - 1e-9); k*step <= high+1e-9*step && len(out) <= 4*n; k++ {
		out = append(out, k*step)
	}
	return out
}

// tickTexts writes ticks with few digits, or with as many as it takes to tell neighbours
// apart.
func tickTexts(ticks []float64) []string {
	texts := make([]string, len(ticks))
	for i, v := range ticks {
		if texts[i] = Number(v); i > 0 && texts[i] == texts[i-1] {
			for k, v := range ticks {
				texts[k] = strconv.FormatFloat(v, 'g', 12, 64)
			}
			break
		}
	}
	return texts
}

// Number writes a number with few digits.
func Number(v float64) string {
	if v == 0 {
		return "0"
	}
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "-"
	case size >= 1e7 || size < 1e-4:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(roundTo(v, 4), 'f', -1, 64)
}

// roundTo rounds to significant digits.
func roundTo(v float64, digits int) float64 {
	text := strconv.FormatFloat(v, 'g', digits, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return v
	}
	return rounded
}

// vertical draws the scale at the left side, with rules.
func (a *axes) vertical(n int) {
	all := ticks(a.yMin, a.yMax, n)
	texts := tickTexts(all)
	for i, v := range all {
		y := a.up(v)
		a.f.Line(a.x, y, a.x+a.w, y, "rule")
		a.f.Text(a.x-6, y, End, "soft", texts[i])
	}
}

// horizontal draws the scale below.
func (a *axes) horizontal(n int) {
	all := ticks(a.xMin, a.xMax, n)
	texts := tickTexts(all)
	for i, v := range all {
		x := a.across(v)
		a.f.Line(x, a.y+a.h, x, a.y+a.h+4, "axis")
		a.f.Text(x, a.y+a.h+13, Middle, "soft", texts[i])
	}
	a.base()
}

func (a *axes) base() { a.f.Line(a.x, a.y+a.h, a.x+a.w, a.y+a.h, "axis") }
