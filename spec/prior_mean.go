package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// PriorMean is the prior mean of the free weights of a posterior: a finite number, or
// auto, which is 1 for weighted regressions (wlr) and 0 otherwise. The zero value is auto.
// The text form is the number or auto.
type PriorMean struct {
	value float64
	given bool
}

// PriorMeanOf returns a given prior mean. It panics if the number is not finite.
func PriorMeanOf(value float64) PriorMean {
	if !validPriorMean(value) {
		panic(fmt.Sprintf("spec: prior mean %v is not a finite number", value))
	}
	return PriorMean{value: value + 0, given: true} // + 0 turns -0 into 0
}

// Value returns the prior mean and whether one is given.
func (m PriorMean) Value() (value float64, given bool) { return m.value, m.given }

func (m PriorMean) String() string {
	if !m.given {
		return "auto"
	}
	return strconv.FormatFloat(m.value, 'g', -1, 64)
}

// MarshalText implements [encoding.TextMarshaler].
func (m PriorMean) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *PriorMean) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*m = PriorMean{}
		return nil
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !validPriorMean(value) {
		return fmt.Errorf("%q is neither a finite number nor auto", text)
	}
	*m = PriorMeanOf(value)
	return nil
}

// MarshalJSON returns a number or "auto".
func (m PriorMean) MarshalJSON() ([]byte, error) {
	if !m.given {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(m.value)
}

// UnmarshalJSON reads what MarshalJSON returns.
func (m *PriorMean) UnmarshalJSON(data []byte) error {
	if len(data) > 1 && data[0] == '"' {
		data = data[1 : len(data)-1]
	}
	return m.UnmarshalText(data)
}

// validPriorMean reports whether the solvers, which compute in float32, can use a mean.
func validPriorMean(v float64) bool { return math.Abs(v) <= math.MaxFloat32 }
