package calibrate

import (
	"fmt"
	"math"
)

// A Transform is the function g that carries the target to the modelling scale.
type Transform uint8

const (
	Identity Transform = iota
	Log1p              // g = log(1 + y)
	Sqrt               // g = sqrt(y); its way back counts a negative g as 0
	Cbrt1p             // g = cbrt(1 + y); its way back counts a negative g as 0
)

var transformNames = [...]string{Identity: "identity", Log1p: "log1p", Sqrt: "sqrt", Cbrt1p: "cbrt1p"}

// ParseTransform reads a transform's name: identity, log1p, sqrt or cbrt1p.
func ParseTransform(name string) (Transform, error) {
	for t, n := range transformNames {
		if n == name {
			return Transform(t), nil
		}
	}
	return 0, fmt.Errorf("there is no transform %q; there are %v", name, transformNames)
}

func (t Transform) String() string { return transformNames[t] }

// Forward returns g(y); -Inf below the domain, where no value can lie.
func (t Transform) Forward(y float64) float64 {
	switch t {
	case Log1p:
		if y <= -1 {
			return math.Inf(-1)
		}
		return math.Log1p(y)
	case Sqrt:
		if y < 0 {
			return math.Inf(-1)
		}
		return math.Sqrt(y)
	case Cbrt1p:
		if y < -1 {
			return math.Inf(-1)
		}
		return math.Cbrt(1 + y)
	}
	return y
}

// Inverse returns the y of a value on the modelling scale. It never falls.
func (t Transform) Inverse(g float64) float64 {
	switch t {
	case Log1p:
		return math.Expm1(g)
	case Sqrt:
		g = max(g, 0)
		return g * g
	case Cbrt1p:
		g = max(g, 0)
		return g*g*g - 1
	}
	return g
}

// logDerivative returns log g'(y), from g = g(y).
func (t Transform) logDerivative(g float64) float64 {
	switch t {
	case Log1p:
		return -g
	case Sqrt:
		return -math.Log(2 * g)
	case Cbrt1p:
		return -math.Log(3 * g * g)
	}
	return 0
}

// least returns the value to which all negative g go back, which so has a
// probability of its own; -Inf where there is none.
func (t Transform) least() float64 {
	switch t {
	case Sqrt:
		return 0
	case Cbrt1p:
		return -1
	}
	return math.Inf(-1)
}

// inverseDerivative returns dy/dg.
func (t Transform) inverseDerivative(g float64) float64 {
	switch t {
	case Log1p:
		return math.Exp(g)
	case Sqrt:
		return 2 * max(g, 0)
	case Cbrt1p:
		g = max(g, 0)
		return 3 * g * g
	}
	return 1
}
