package targetscale

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Power returns the transform with power P in [0, 1] and a unit above 0,
//
//	g(y) = sign(y) ((1 + |y|/unit)^P - 1) / P,   for P = 0 its limit sign(y) log(1 + |y|/unit).
//
// It is the Box-Cox family of 1 + y/unit for y >= 0, continued to negative y as an odd
// function. For P in [0, 1] it is defined for all y, increasing with a continuous
// derivative, and takes all values, so its inverse needs no bound. (The family of Yeo and
// Johnson stretches negative values by the power 2 - P where it compresses positive ones;
// this one compresses both.) The unit makes it independent of the units of the target.
// Power panics for other arguments.
func Power(p, unit float64) Transform {
	if !(p >= 0 && p <= 1) || !(unit > 0) || math.IsInf(unit, 1) {
		panic("targetscale: a power outside [0, 1] or a unit that is not above 0")
	}
	return Transform{kind: KindPower, power: p, unit: unit}
}

// parsePower reads P or P:UNIT, where P may be a ratio.
func parsePower(text string) (Transform, error) {
	number, unit, hasUnit := strings.Cut(text, ":")
	t := Transform{kind: KindPower}
	var err error
	if t.power, err = parseRatio(number); err != nil || !(t.power >= 0 && t.power <= 1) {
		return Transform{}, fielderr.Errorf("transform", "the power %q is not a number from 0 to 1; write one, as in power:0.33 or power:1/3", number)
	}
	t.power = math.Abs(t.power) // no -0
	if !hasUnit {
		return t, nil
	}
	if t.unit, err = strconv.ParseFloat(unit, 64); err != nil || !(t.unit > 0) || math.IsInf(t.unit, 1) {
		return Transform{}, fielderr.Errorf("transform", "the unit %q is not a number above 0; write one, as in power:0.33:10, or leave it out", unit)
	}
	return t, nil
}

// parseRatio reads a number or a ratio of two, as in 1/3.
func parseRatio(text string) (float64, error) {
	above, below, ratio := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(above, 64)
	if err != nil || !ratio {
		return v, err
	}
	by, err := strconv.ParseFloat(below, 64)
	return v / by, err
}

// MostDegree is the largest degree of an inverse that counts as a polynomial.
const MostDegree = 14

// PolynomialDegree returns 1/P if that is a whole number up to MostDegree: then the inverse of
// the power P is a polynomial of that degree for y >= 0.
func PolynomialDegree(p float64) (degree int, whole bool) {
	degree = int(min(1/p, MostDegree) + 0.5)
	return degree, float64(degree)*p == 1
}

// RoundPower returns a power near p, at most an eighth above it, whose reciprocal is a whole
// number, so that the inverse of the scale is a polynomial: its moments are exact and need no
// exponentials. Powers above 1/2 and below 1/MostDegree are returned unchanged.
func RoundPower(p float64) float64 {
	const above = 0.25 // of the reciprocal
	if degree := math.Ceil(1/p - above); p <= 0.5 && degree <= MostDegree {
		return 1 / degree
	}
	return p
}

// powerText writes a power as a decimal number or, if that is long, as 1/3.
func (t Transform) powerText() string {
	const long = len("0.1234")
	number := strconv.FormatFloat(t.power, 'g', -1, 64)
	if degree, whole := PolynomialDegree(t.power); whole && len(number) > long {
		number = "1/" + strconv.Itoa(degree)
	}
	text := "power:" + number
	if t.unit > 0 {
		text += ":" + strconv.FormatFloat(t.unit, 'g', -1, 64)
	}
	return text
}

// Name returns the name of the transform, without the unit of a power.
func (t Transform) Name() string {
	if t.kind == KindPower {
		t.unit = 0
	}
	return t.String()
}

// Unit returns the unit of a power, 0 if it is not determined yet, and 1 for all other
// transforms.
func (t Transform) Unit() float64 {
	if t.kind == KindPower {
		return t.unit
	}
	return 1
}

// WithUnit returns the transform for targets y with optional weights. A power without a
// unit gets [TargetUnit]; nothing else changes.
func (t Transform) WithUnit(y, w []float32) Transform {
	if t.kind == KindPower && t.unit == 0 {
		t.unit = TargetUnit(y, w)
	}
	return t
}

func (t Transform) powerForward(y float64) float64 {
	x := math.Abs(y) / t.unit
	switch t.power {
	case 0:
		x = math.Log1p(x)
	case 1:
	default:
		x = math.Expm1(t.power*math.Log1p(x)) / t.power
	}
	return math.Copysign(x, y)
}

func (t Transform) powerInverse(g float64) float64 {
	x := math.Abs(g)
	switch t.power {
	case 0:
		x = math.Expm1(x)
	case 1:
	default:
		x = math.Expm1(math.Log1p(t.power*x) / t.power)
	}
	return math.Copysign(x*t.unit, g)
}

// powerLogDerivative returns log g'(y) = (P - 1) log(1 + |y|/unit) - log unit.
func (t Transform) powerLogDerivative(g float64) float64 {
	level := math.Abs(g) // log(1 + |y|/unit)
	if t.power > 0 {
		level = math.Log1p(t.power*level) / t.power
	}
	return (t.power-1)*level - math.Log(t.unit)
}

// PowerValues writes the inverse of a power of m + s t at the t of nodes. It is exact to a
// rounding error of the unit, which suffices for integrals, and several times faster than
// [Transform.Inverse].
func (t Transform) PowerValues(dst, nodes []float64, m, s float64) {
	switch t.power {
	case 0:
		for i, z := range nodes {
			g := m + s*z
			dst[i] = math.Copysign((math.Exp(math.Abs(g))-1)*t.unit, g)
		}
	case 1:
		for i, z := range nodes {
			dst[i] = (m + s*z) * t.unit
		}
	default:
		root := 1 / t.power
		for i, z := range nodes {
			g := m + s*z
			dst[i] = math.Copysign((math.Exp(root*math.Log(1+t.power*math.Abs(g)))-1)*t.unit, g)
		}
	}
}

// unitRows is the largest number of targets whose quantiles determine a unit.
const unitRows = 100_000

// TargetUnit returns the unit of a power for targets y with optional weights: a size
// below which differences between targets hardly matter, in the units of the target. For
// targets of one sign it is their first percentile, but at most a tenth of their median;
// the more targets have the other sign or are 0, the higher the percentile, up to the
// median of |y|, because a small unit makes g steep around 0. It is at least the step of
// the targets: 1 if all are whole numbers, and the smallest |y| if all are multiples of
// it. Zeros have no part in the quantiles.
func TargetUnit(y, w []float32) float64 {
	type sized struct{ size, weight float64 }
	var sizes []sized
	var all, low, high, total float64 // weights of all, y <= 0, y >= 0 and y != 0
	stride := max(1, (len(y)+unitRows-1)/unitRows)
	for i := 0; i < len(y); i += stride {
		v, weight := float64(y[i]), 1.0
		if w != nil {
			weight = float64(w[i])
		}
		all += weight
		if v <= 0 {
			low += weight
		}
		if v >= 0 {
			high += weight
		}
		if v != 0 {
			sizes = append(sizes, sized{math.Abs(v), weight})
			total += weight
		}
	}
	if len(sizes) == 0 {
		return 1
	}
	slices.SortFunc(sizes, func(a, b sized) int {
		if a.size < b.size {
			return -1
		}
		if a.size > b.size {
			return 1
		}
		return 0
	})
	quantile := func(p float64) float64 {
		sum := 0.0
		for _, s := range sizes {
			if sum += s.weight; sum >= p*total {
				return s.size
			}
		}
		return sizes[len(sizes)-1].size
	}
	other := min(low, high) / all
	unit := min(quantile(min(max(other, 0.01), 0.5)), quantile(0.5)*min(max(2*other, 0.1), 1))
	return max(unit, targetStep(y))
}

// targetStep returns the step of targets that are all multiples of it, 0 if there is none.
func targetStep(y []float32) float64 {
	step, least := 1.0, float32(math.Inf(1))
	for _, v := range y {
		if float64(v) != math.Trunc(float64(v)) {
			step = 0
		}
		if a := float32(math.Abs(float64(v))); a > 0 {
			least = min(least, a)
		}
	}
	for _, v := range y {
		// Decimal fractions are rounded to 24 bits, so large multiples say nothing.
		n := float64(v) / float64(least)
		if math.Abs(n-math.Round(n)) > 1e-6*(1+math.Abs(n)) || math.Abs(n) > 1e5 {
			return step
		}
	}
	return max(step, float64(least))
}
