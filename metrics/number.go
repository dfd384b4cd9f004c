package metrics

import (
	"encoding/json"
	"math"
)

// A Number is a float64 that JSON represents as null if it is undefined.
type Number float64

var undefined = Number(math.NaN())

// MarshalJSON writes NaN and infinities as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = undefined
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}
