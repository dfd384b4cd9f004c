package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Samplers work in the unit cube with one coordinate per parameter. A choice among
// k values has k cells of equal width. An integer has one cell per value, of equal
// width on its scale. A real number maps to its position between the bounds on its
// scale.

// ends returns the scale's values at coordinates 0 and 1.
func (p Param) ends() (low, high float64) {
	switch p.Kind {
	case Choice:
		return 0, float64(len(p.Choices))
	case Integer:
		return p.Low - 0.5, p.High + 0.5
	case LogInteger:
		return math.Log(p.Low - 0.5), math.Log(p.High + 0.5)
	case LogUniform:
		return math.Log(p.Low), math.Log(p.High)
	}
	return p.Low, p.High
}

// value returns the text of the value at coordinate u in [0, 1].
func (p Param) value(u float64) string {
	low, high := p.ends()
	x := low + u*(high-low)
	switch p.Kind {
	case Choice:
		return p.Choices[min(max(int(x), 0), len(p.Choices)-1)]
	case LogInteger:
		x = math.Exp(x)
	case LogUniform:
		x = math.Exp(x)
	}
	if p.Kind == Integer || p.Kind == LogInteger {
		return strconv.FormatInt(int64(min(max(math.RoundToEven(x), p.Low), p.High)), 10)
	}
	return number(min(max(x, p.Low), p.High))
}

// coordinate returns the coordinate of a value: the middle of its cell, or the
// position of a real number.
func (p Param) coordinate(text string) (float64, error) {
	low, high := p.ends()
	if p.Kind == Choice {
		i := slices.Index(p.Choices, text)
		if i < 0 {
			return 0, fmt.Errorf("parameter %s: %q is not one of the choices", p.Name, text)
		}
		return (float64(i) + 0.5) / high, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= p.Low && x <= p.High) {
		return 0, fmt.Errorf("parameter %s: %q is not a value of %v", p.Name, text, p)
	}
	switch p.Kind {
	case LogInteger:
		x = (math.Log(x-0.5) + math.Log(x+0.5)) / 2
	case LogUniform:
		x = math.Log(x)
	}
	return min(max((x-low)/(high-low), 0), 1), nil
}

// Nearest returns the value of the domain that is nearest to a text. For a text
// that is not a number, it is the middle of a numeric domain. For a choice that
// does not contain the text, it is the numerically nearest value if the text is a
// number, and the first value otherwise.
func (p Param) Nearest(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case p.Kind == Choice && (err != nil || slices.Contains(p.Choices, text)):
		return p.Choices[max(0, slices.Index(p.Choices, text))]
	case p.Kind == Choice:
		return slices.MinFunc(p.Choices, func(a, b string) int { return cmp.Compare(distance(a, x), distance(b, x)) })
	case err != nil:
		return p.value(0.5)
	case p.Kind == Integer || p.Kind == LogInteger:
		return strconv.FormatInt(int64(min(max(math.RoundToEven(x), p.Low), p.High)), 10)
	}
	return number(min(max(x, p.Low), p.High))
}

// distance returns the distance of a text to x, infinite if it is not a number.
func distance(text string, x float64) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.Inf(1)
	}
	return math.Abs(v - x)
}

// values returns the values at a point of the cube.
func (s Space) values(point []float64) Values {
	v := Values{}
	for i, p := range s {
		v[p.Name] = p.value(point[i])
	}
	return v
}

// point returns the point of the cube for the values.
func (s Space) point(v Values) ([]float64, error) {
	if len(v) != len(s) {
		return nil, fmt.Errorf("%d values for %d parameters", len(v), len(s))
	}
	point := make([]float64, len(s))
	for i, p := range s {
		var err error
		if point[i], err = p.coordinate(v[p.Name]); err != nil {
			return nil, err
		}
	}
	return point, nil
}
