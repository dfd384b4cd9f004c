package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Lambda is the weight of the penalty: a number, 0 or more, or auto, which means that
// the validation set chooses it. The zero value is auto, which distinguishes a weight of
// 0 from one that is not given. The text form is the number or auto. Cores may have weights
// of their own, above 0: "0.1,item=0.02,store*item=1", where the first number is that of
// all other cores. It may be missing if all cores are listed.
type Lambda struct {
	value float64
	given bool
	rest  bool   // value is that of the cores that are not listed
	cores string // the listed cores in their text form, "" for none
}

// LambdaOf returns a given weight. It panics if the weight is negative or not finite.
func LambdaOf(value float64) Lambda {
	if !validLambda(value) {
		panic(fmt.Sprintf("spec: lambda %v is not a finite number, 0 or more", value))
	}
	return Lambda{value: value + 0, given: true, rest: true} // + 0 turns -0 into 0
}

// Value returns the weight and whether one is given. It is that of the cores without a
// weight of their own, and 1 if all cores are listed.
func (l Lambda) Value() (value float64, given bool) { return l.value, l.given }

func (l Lambda) String() string {
	if !l.given {
		return "auto"
	}
	text := strconv.FormatFloat(l.value, 'g', -1, 64)
	switch {
	case l.cores == "":
		return text
	case !l.rest:
		return l.cores
	}
	return text + "," + l.cores
}

// MarshalText implements [encoding.TextMarshaler].
func (l Lambda) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Lambda) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*l = Lambda{}
		return nil
	}
	if strings.Contains(string(text), "=") {
		return l.unmarshalCores(string(text))
	}
	value, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !validLambda(value) {
		return fmt.Errorf("%q is neither a number, 0 or more, nor auto", text)
	}
	*l = LambdaOf(value)
	return nil
}

// MarshalJSON returns a number, "auto" or the text form with weights of cores.
func (l Lambda) MarshalJSON() ([]byte, error) {
	if !l.given || l.cores != "" {
		return json.Marshal(l.String())
	}
	return json.Marshal(l.value)
}

// UnmarshalJSON reads what MarshalJSON returns.
func (l *Lambda) UnmarshalJSON(data []byte) error { return l.UnmarshalText(unquoted(data)) }

func validLambda(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
