package targetscale

import (
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Transform is the function g that maps the target to the modelling scale: one of the
// values below, or a power (see [Power]). It is comparable; the zero value is [Identity].
type Transform struct {
	kind        Kind
	power, unit float64 // of kind power; a unit of 0 is not yet determined
}

// Kind is the kind of a function, for formulas that differ between kinds.
type Kind uint8

// The kinds that are modelled without a link.
const (
	KindIdentity Kind = iota
	KindLog1p
	KindSqrt
	KindCbrt1p
	logRate
	logit
	ordinal
	KindPower // see [Power]
)

// The transforms without parameters.
var (
	Identity = Transform{kind: KindIdentity}
	Log1p    = Transform{kind: KindLog1p}  // g = log(1 + y)
	Sqrt     = Transform{kind: KindSqrt}   // g = sqrt(y); its inverse maps negative g to y = 0
	Cbrt1p   = Transform{kind: KindCbrt1p} // g = cbrt(1 + y); its inverse maps negative g to y = -1
	// LogRate marks the scale of counts, which are modelled by the logarithm of
	// their rate. It leaves the counts unchanged, and specifications do not name it:
	// it follows from the likelihood.
	LogRate = Transform{kind: logRate}
	// Logit likewise marks the scale of values 0 and 1, which are modelled by the
	// logarithm of the odds of 1.
	Logit = Transform{kind: logit}
	// Ordinal marks the scale of one of few values, which are modelled by a latent
	// variable.
	Ordinal = Transform{kind: ordinal}
)

var transformNames = [...]string{KindIdentity: "identity", KindLog1p: "log1p", KindSqrt: "sqrt", KindCbrt1p: "cbrt1p", logRate: "log-rate", logit: "logit", ordinal: "ordinal"}

// Transforms returns the names of the transforms without parameters that a specification
// can choose.
func Transforms() []string { return slices.Clone(transformNames[:logRate]) }

// ParseTransform returns the transform with one of the names in [Transforms], or the
// power that power:P or power:P:UNIT describes.
func ParseTransform(name string) (Transform, error) {
	if i := slices.Index(transformNames[:logRate], name); i >= 0 {
		return Transform{kind: Kind(i)}, nil
	}
	if text, is := strings.CutPrefix(name, "power:"); is {
		return parsePower(text)
	}
	return Transform{}, fielderr.Errorf("transform", "unknown transform %q; use one of %s or power:P", name, strings.Join(transformNames[:logRate], ", "))
}

// Kind returns the kind of the function.
func (t Transform) Kind() Kind { return t.kind }

// Exponent returns P of a power, 0 for all other transforms.
func (t Transform) Exponent() float64 { return t.power }

// String returns the text that [ParseTransform] reads.
func (t Transform) String() string {
	if t.kind == KindPower {
		return t.powerText()
	}
	return transformNames[t.kind]
}

// MarshalText returns the name.
func (t Transform) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a name, including those of [LogRate], [Logit] and [Ordinal].
func (t *Transform) UnmarshalText(text []byte) (err error) {
	for _, linked := range []Transform{LogRate, Logit, Ordinal} {
		if string(text) == linked.String() {
			*t = linked
			return nil
		}
	}
	*t, err = ParseTransform(string(text))
	return err
}

// Linked reports whether t marks a target that is modelled through a link.
func (t Transform) Linked() bool { return t.kind == logRate || t.kind == logit || t.kind == ordinal }

// Linear reports whether g is a linear function of y.
func (t Transform) Linear() bool {
	return t.kind == KindIdentity || t.kind == KindPower && t.power == 1
}

// InDomain reports whether g(y) is defined. Counts must be whole numbers from 0.
func (t Transform) InDomain(y float64) bool {
	switch t.kind {
	case KindLog1p:
		return !(y <= -1)
	case KindSqrt:
		return !(y < 0)
	case KindCbrt1p:
		return !(y < -1)
	case logRate:
		return !(y < 0 || y != math.Trunc(y))
	case logit:
		return y == 0 || y == 1
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
	switch t.kind {
	case KindLog1p:
		return math.Log1p(y)
	case KindSqrt:
		return math.Sqrt(y)
	case KindCbrt1p:
		return math.Cbrt(1 + y)
	case KindPower:
		return t.powerForward(y)
	}
	return y
}

// Inverse returns the y that corresponds to a value on the modelling scale. It is
// non-decreasing.
func (t Transform) Inverse(g float64) float64 {
	switch t.kind {
	case KindLog1p:
		return math.Expm1(g)
	case KindSqrt:
		g = max(g, 0)
		return g * g
	case KindCbrt1p:
		g = max(g, 0)
		return g*g*g - 1
	case KindPower:
		return t.powerInverse(g)
	}
	return g
}

// LogDerivative returns log g'(y) for y in the domain.
func (t Transform) LogDerivative(y float64) float64 { return t.LogDerivativeAt(t.forward(y)) }

// LogDerivativeAt returns log g'(y), from g = g(y).
func (t Transform) LogDerivativeAt(g float64) float64 {
	switch t.kind {
	case KindLog1p:
		return -g
	case KindSqrt:
		return -math.Log(2 * g)
	case KindCbrt1p:
		return -math.Log(3 * g * g)
	case KindPower:
		return t.powerLogDerivative(g)
	}
	return 0
}

// InverseDerivative returns dy/dg.
func (t Transform) InverseDerivative(g float64) float64 {
	switch t.kind {
	case KindLog1p:
		return math.Exp(g)
	case KindSqrt:
		return 2 * max(g, 0)
	case KindCbrt1p:
		g = max(g, 0)
		return 3 * g * g
	case KindPower:
		return math.Exp(-t.powerLogDerivative(g))
	}
	return 1
}

// LowerBound returns the value to which the inverse maps all negative g, which
// therefore has positive probability; -Inf if there is no such value.
func (t Transform) LowerBound() float64 {
	switch t.kind {
	case KindSqrt:
		return 0
	case KindCbrt1p:
		return -1
	}
	return math.Inf(-1)
}
