package spec

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// autoNumber is a given number, or auto.
type autoNumber struct {
	value float64
	given bool
}

// Value returns the number and whether one is given; 0 if it is auto.
func (n autoNumber) Value() (value float64, given bool) { return n.value, n.given }

func (n autoNumber) String() string {
	if !n.given {
		return "auto"
	}
	return strconv.FormatFloat(n.value, 'g', -1, 64)
}

// MarshalText implements [encoding.TextMarshaler].
func (n autoNumber) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// MarshalJSON returns a number or "auto".
func (n autoNumber) MarshalJSON() ([]byte, error) {
	if !n.given {
		return []byte(`"auto"`), nil
	}
	return json.Marshal(n.value)
}

// unmarshal reads auto or a valid number, which is what the error calls it.
func (n *autoNumber) unmarshal(text []byte, valid func(float64) bool, what string) error {
	if string(text) == "auto" {
		*n = autoNumber{}
		return nil
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !valid(value) {
		return fmt.Errorf("%q is neither %s nor auto", text, what)
	}
	*n = autoNumber{value + 0, true} // + 0 turns -0 into 0
	return nil
}

// unquoted returns the text of a JSON number or string without escapes.
func unquoted(data []byte) []byte {
	if len(data) > 1 && data[0] == '"' {
		return data[1 : len(data)-1]
	}
	return data
}
