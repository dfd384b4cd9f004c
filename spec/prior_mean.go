package spec

import (
	"fmt"
	"math"
)

// PriorMean is the prior mean of the free weights of a posterior: a finite number, or
// auto, which is 1 for weighted regressions (wlr) and 0 otherwise. The zero value is auto.
// The text form is the number or auto.
type PriorMean struct{ autoNumber }

// PriorMeanOf returns a given prior mean. It panics if the number is not finite.
func PriorMeanOf(value float64) PriorMean {
	if !validPriorMean(value) {
		panic(fmt.Sprintf("spec: prior mean %v is not a finite number", value))
	}
	return PriorMean{autoNumber{value + 0, true}} // + 0 turns -0 into 0
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *PriorMean) UnmarshalText(text []byte) error {
	return m.unmarshal(text, validPriorMean, "a finite number")
}

// UnmarshalJSON reads what MarshalJSON returns.
func (m *PriorMean) UnmarshalJSON(data []byte) error { return m.UnmarshalText(unquoted(data)) }

// validPriorMean reports whether the solvers, which compute in float32, can use a mean.
func validPriorMean(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }
