package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Lambda is the weight of the penalty: a number, 0 or more, or auto, which
// leaves the choice to validation data. The zero value is auto, so that a
// weight of 0 and no weight given are two things. Its text is auto or the
// number.
type Lambda struct {
	value float64
	given bool
}

// LambdaOf is a given weight. It panics where the weight is negative or not
// finite.
func LambdaOf(value float64) Lambda {
	if !validLambda(value) {
		panic(fmt.Sprintf("model: lambda %v", value))
	}
	return Lambda{value: value + 0, given: true} // + 0 makes -0 into 0
}

// Value is the weight, and whether one was given.
func (l Lambda) Value() (value float64, given bool) { return l.value, l.given }

func (l Lambda) String() string {
	if !l.given {
		return "auto"
	}
	return strconv.FormatFloat(l.value, 'g', -1, 64)
}

// MarshalText is the text form, for flags.
func (l Lambda) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the text form.
func (l *Lambda) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*l = Lambda{}
		return nil
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !validLambda(value) {
		return fmt.Errorf("%q is neither a number, 0 or more, nor auto", text)
	}
	*l = LambdaOf(value)
	return nil
}

// MarshalJSON writes a number, or "auto".
func (l Lambda) MarshalJSON() ([]byte, error) {
	if !l.given {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(l.value)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Lambda) UnmarshalJSON(data []byte) error {
	if len(data) > 1 && data[0] == '"' {
		data = data[1 : len(data)-1]
	}
	return l.UnmarshalText(data)
}

func validLambda(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
