package dataset

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
)

// numberKind says what a field that should be a number is.
type numberKind uint8

const (
	isNumber numberKind = iota
	isMissing
	isInfinite
	isNaN
	isText
)

var powersOfTen = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber reads a trimmed field as the float32 nearest to its decimal value.
//
// m 10^e with m < 2^53 and |e| <= 22 is one multiplication or division of exact
// float64 numbers, so its result is the float64 nearest to the value. Rounding
// that to float32 is right unless it falls on the middle between two float32
// numbers, where strconv decides.
func parseNumber(b []byte) (float32, numberKind) {
	if isNaNText(b) {
		return 0, isNaN
	}
	if isMissingText(b) {
		return float32(math.NaN()), isMissing
	}
	i, negative := 0, false
	if b[0] == '-' || b[0] == '+' {
		negative = b[0] == '-'
		i = 1
	}
	var mantissa uint64
	digits, fraction := 0, 0
	significant := 0
	for ; i < len(b) && isDigit(b[i]); i++ {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		digits++
		if mantissa > 0 {
			significant++
		}
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && isDigit(b[i]); i++ {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			digits++
			fraction++
			if mantissa > 0 {
				significant++
			}
		}
	}
	if digits == 0 {
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
		for ; i < len(b) && isDigit(b[i]); i++ {
			exponent = min(exponent*10+int(b[i]-'0'), 10000)
		}
		if i == start {
			return 0, isText
		}
		if down {
			exponent = -exponent
		}
	}
	if i != len(b) {
		return 0, isText
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
			return float32(v), isNumber
		}
	}
	v, err := strconv.ParseFloat(string(b), 32)
	if err != nil || math.IsInf(v, 0) {
		return 0, isInfinite // the syntax was checked: only the range is left
	}
	return float32(v), isNumber
}

func isDigit(c byte) bool { return c-'0' < 10 }

// isMissingText reports whether a trimmed field says that there is no value: it is
// empty, NA, N/A, NaN or null, in any case. As a target or a weight NaN is refused
// all the same: there it is a result that went wrong as often as a missing one.
func isMissingText(b []byte) bool {
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

func isNaNText(b []byte) bool {
	if len(b) == 4 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	return len(b) == 3 && b[0]|0x20 == 'n' && b[1]|0x20 == 'a' && b[2]|0x20 == 'n'
}

func textOrInfinity(b []byte) numberKind {
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	if bytes.EqualFold(b, []byte("inf")) || bytes.EqualFold(b, []byte("infinity")) {
		return isInfinite
	}
	return isText
}

const (
	everyByte = 0x0101010101010101
	asciiZero = '0' * everyByte
)

// parseDigits reads a word of 1 to 8 digits, the first in the lowest byte and
// zeros above the last, as a decimal integer: pairs, then fours, then all eight
// digits at once. The word 0 is no number.
func parseDigits(word uint64) (uint32, bool) {
	v := (word ^ asciiZero) << (uint(bits.LeadingZeros64(word)) & 56) // a digit a byte, zeros before
	if ((v+0x76*everyByte)|v)&(0x80*everyByte) != 0 || word == 0 {
		return 0, false
	}
	v = v*10 + v>>8
	const evenPairs = 0x000000ff000000ff
	v = ((v&evenPairs)*(100+1000000<<32) + (v>>16&evenPairs)*(1+10000<<32)) >> 32
	return uint32(v), true
}

// parseIntegers reads words from index i on, until one is no integer, and returns
// its index or len(words).
func parseIntegers(dst []float32, words []uint64, i int) int {
	dst = dst[:len(words)]
	for ; i < len(words); i++ {
		v, ok := parseDigits(words[i])
		if !ok {
			return i
		}
		dst[i] = float32(v)
	}
	return i
}
