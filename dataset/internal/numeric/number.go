// Package numeric reads numbers from the text of fields.
package numeric

import (
	"bytes"
	"math"
	"strconv"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// Kind classifies a field that should be a number.
type Kind uint8

const (
	Finite   Kind = iota // a number
	Missing              // no value, see IsMissing and StandsForMissing
	Infinite             // infinity, or a number beyond the range of float32
	NaN                  // the text NaN
	Text                 // anything else
)

var powersOfTen = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// Parse reads a trimmed field as the float32 nearest to its decimal value.
//
// m 10^e with m < 2^53 and |e| <= 22 is one multiplication or division of exact
// float64 numbers, so the result is the float64 nearest to the value. Rounding it to
// float32 is correct unless it lies in the middle between two float32 numbers. In
// that case strconv parses the text.
func Parse(b []byte) (float32, Kind) {
	if isNaNText(b) {
		return 0, NaN
	}
	if IsMissing(b) {
		return float32(math.NaN()), Missing
	}
	i, negative := 0, false
	if b[0] == '-' || b[0] == '+' {
		negative = b[0] == '-'
		i = 1
	}
	var mantissa uint64
	digits, fraction := 0, 0
	significant := 0
	for ; i < len(b) && fieldtext.IsDigit(b[i]); i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		digits++
		if mantissa > 0 {
			significant++
		}
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && fieldtext.IsDigit(b[i]); i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			digits++
			fraction++
			if mantissa > 0 {
				significant++
			}
		}
	}
	if digits == 0 {
		if StandsForMissing(b) {
			return float32(math.NaN()), Missing
		}
		return 0, textOrInfinity(b)
	}
	exponent := 0
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		down := false
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			down = b[i] == '-'
			i++
		}
		start := i
		for ; i < len(b) && fieldtext.IsDigit(b[i]); i++ {
			exponent = min(exponent*10+int(b[i]-'0'), 10000)
		}
		if i == start {
			return 0, Text
		}
		if down {
			exponent = -exponent
		}
	}
	if i != len(b) {
		return 0, Text
	}
	exponent -= fraction
	if significant <= 19 && mantissa < 1<<53 && exponent >= -22 && exponent <= 22 {
		v := float64(mantissa)
		if exponent < 0 {
			v /= powersOfTen[-exponent]
		} else {
			v *= powersOfTen[exponent]
		}
		const middle = 1 << 28 // of the 29 bits that float32 lacks
		if v < math.MaxFloat32 && (v == 0 || v > 0x1p-126) && math.Float64bits(v)&(1<<29-1) != middle {
			if negative {
				v = -v
			}
			return float32(v), Finite
		}
	}
	v, err := strconv.ParseFloat(string(b), 32)
	if err != nil || math.IsInf(v, 0) {
		return 0, Infinite // the syntax is valid, so the value is out of range
	}
	return float32(v), Finite
}

// IsMissing reports whether a trimmed field has no value: it is empty, NA, N/A, NaN
// or null, in any case. Parse nevertheless returns NaN for the text NaN, because in a
// target or a weight it is often the result of a failed computation.
func IsMissing(b []byte) bool {
	switch len(b) {
	case 0:
		return true
	case 2:
		return b[0]|0x20 == 'n' && b[1]|0x20 == 'a'
	case 3:
		return isNaNText(b) || b[0]|0x20 == 'n' && b[1] == '/' && b[2]|0x20 == 'a'
	case 4:
		return b[0]|0x20 == 'n' && bytes.EqualFold(b, []byte("null"))
	}
	return false
}

// StandsForMissing reports whether a trimmed field is a text that programs and people write where a
// number is missing: #N/A (spreadsheets), None and <NA> (Python), nil (Ruby, Lua), a question mark, a point (SAS,
// Stata), n.a. Among texts it may be one of them, so IsMissing does not know it. A dash is not
// among them, because accounts write it for 0, nor are errors of a computation, such as #DIV/0!.
func StandsForMissing(b []byte) bool {
	if len(b) > 4 {
		return false
	}
	switch string(bytes.ToLower(b)) {
	case "?", ".", "..", "none", "nil", "<na>", "#n/a", "#na", "n.a.", "n.a", "n/d", "n.d.":
		return true
	}
	return false
}

func isNaNText(b []byte) bool {
	if len(b) == 4 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) == 3 && b[0]|0x20 == 'n' && b[1]|0x20 == 'a' && b[2]|0x20 == 'n'
}

func textOrInfinity(b []byte) Kind {
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	if bytes.EqualFold(b, []byte("inf")) || bytes.EqualFold(b, []byte("infinity")) {
		return Infinite
	}
	return Text
}
