package predictive

import (
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Transform is the function g that maps the target to the modelling scale.
type Transform uint8

const (
	Identity Transform = iota
	Log1p              // g = log(1 + y)
	Sqrt               // g = sqrt(y); its inverse maps negative g to y = 0
	Cbrt1p             // g = cbrt(1 + y); its inverse maps negative g to y = -1
	// LogRate marks the scale of counts, which are modelled by the logarithm of
	// their rate. It leaves the counts unchanged, and specifications do not name it:
	// it follows from the likelihood.
	LogRate
)

var transformNames = [...]string{Identity: "identity", Log1p: "log1p", Sqrt: "sqrt", Cbrt1p: "cbrt1p", LogRate: "log-rate"}

// Transforms returns the names of the transforms that a specification can choose.
func Transforms() []string { return slices.Clone(transformNames[:LogRate]) }

// ParseTransform returns the transform with one of the names in [Transforms].
func ParseTransform(name string) (Transform, error) {
	if i := slices.Index(transformNames[:LogRate], name); i >= 0 {
		return Transform(i), nil
	}
	return 0, fielderr.Errorf("transform", "unknown transform %q; use one of %s", name, strings.Join(transformNames[:LogRate], ", "))
}

func (t Transform) String() string { return transformNames[t] }

// MarshalText returns the name.
func (t Transform) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a name, including that of [LogRate].
func (t *Transform) UnmarshalText(text []byte) (err error) {
	if string(text) == LogRate.String() {
		*t = LogRate
		return nil
	}
	*t, err = ParseTransform(string(text))
	return err
}

// InDomain reports whether g(y) is defined. Counts must be whole numbers from 0.
func (t Transform) InDomain(y float64) bool {
	switch t {
	case Log1p:
		return !(y <= -1)
	case Sqrt:
		return !(y < 0)
	case Cbrt1p:
		return !(y < -1)
	case LogRate:
		return !(y < 0 || y != math.Trunc(y))
	}
	return true
}

// Forward returns g(y), and -Inf outside the domain.
func (t Transform) Forward(y float64) float64 {
	if !t.InDomain(y) {
		return math.Inf(-1)
	}
	return t.forward(y)
}

// forward returns g(y) for y in the domain.
func (t Transform) forward(y float64) float64 {
	switch t {
	case Log1p:
		return math.Log1p(y)
	case Sqrt:
		return math.Sqrt(y)
	case Cbrt1p:
		return math.Cbrt(1 + y)
	}
	return y
}

// Inverse returns the y that corresponds to a value on the modelling scale. It is
// non-decreasing.
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

// lowerBound returns the value to which the inverse maps all negative g, which
// therefore has positive probability; -Inf if there is no such value.
func (t Transform) lowerBound() float64 {
	switch t {
	case Sqrt:
		return 0
	case Cbrt1p:
		return -1
	}
	return math.Inf(-1)
}
