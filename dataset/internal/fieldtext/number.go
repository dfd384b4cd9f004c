package fieldtext

import (
	"math"
	"slices"
	"strconv"
)

// AppendFloat32 appends the shortest decimal number that is read as v, in the form of
// strconv.AppendFloat(dst, float64(v), 'g', -1, 32), in a quarter of its time for numbers from
// 1e-4 to 1e6 in absolute value.
//
// With v = m 2^e for an integer m, all numbers within half a unit of m are read as v: the interval
// (2m-1, 2m+1) 2^(e-1), with its ends if m is even. Times 10^p, its middle and its half width are
// integers 2m 5^p and 5^p in units of 2^(p+e-1), below 2^63. With the least p for which 2^(e+23)
// 10^p is at least 10^7, an integer is in the interval, because 10^7 > 2^23. Digits are dropped
// from its end while a multiple of the remaining unit is in the interval.
func AppendFloat32(dst []byte, v float32) []byte {
	bits := math.Float32bits(v)
	if bits == 0 {
		return append(dst, '0')
	}
	exponent := int(bits>>23&0xff) - exponentBias
	if exponent < leastExponent || exponent > mostExponent {
		return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
	}
	m := bits&(1<<23-1) | 1<<23
	fraction := uint(23 - exponent) // bits of m behind the point
	if fraction <= 23 && m&(1<<fraction-1) == 0 {
		if whole := m >> fraction; whole < 1_000_000 {
			if bits>>31 != 0 {
				dst = append(dst, '-')
			}
			return appendDigits(dst, whole)
		}
	}
	// At a power of 2 the interval below v is half as wide.
	if m == 1<<23 || v > -1e-4 && v < 1e-4 || v >= 999_999 || v <= -999_999 {
		return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
	}
	scale := &decimalScales[exponent-leastExponent]
	half := scale.five
	middle := 2 * uint64(m) * half
	kept, rest := middle>>scale.shift, middle&(1<<scale.shift-1)
	unit := uint64(1) << scale.shift // of the last digit of kept
	reach := half                    // the largest distance of a number that is read as v
	if m&1 != 0 {
		reach--
	}
	places := scale.places
	// The nearest number with the digits of kept, up or down, while it is near enough.
	up := 2*rest > unit || 2*rest == unit && kept&1 != 0
	for {
		next := kept / 10
		digit := kept - 10*next
		nextRest := digit*unit + rest
		nextUnit := 10 * unit
		nextUp := 2*nextRest > nextUnit || 2*nextRest == nextUnit && next&1 != 0
		distance := nextRest
		if nextUp {
			distance = nextUnit - nextRest
		}
		if distance > reach {
			break
		}
		kept, rest, unit, up = next, nextRest, nextUnit, nextUp
		places--
	}
	if up {
		kept++
	}
	if bits>>31 != 0 {
		dst = append(dst, '-')
	}
	return appendDecimal(dst, uint32(kept), places)
}

// Exponents of numbers that AppendFloat32 does itself: 2^-14 < 1e-4 and 1e6 < 2^20.
const (
	exponentBias  = 127
	leastExponent = -14
	mostExponent  = 19
)

// A decimalScale is the power 10^places by which numbers with a binary exponent are multiplied.
type decimalScale struct {
	five   uint64 // 5^places
	shift  uint   // of 2m 5^places to the number times 10^places
	places int
}

var decimalScales = func() (scales [mostExponent - leastExponent + 1]decimalScale) {
	for i := range scales {
		exponent := i + leastExponent
		places, least := 0, math.Ldexp(1, exponent)
		five := uint64(1)
		for least < 1e7 {
			least *= 10
			five *= 5
			places++
		}
		scales[i] = decimalScale{five: five, shift: uint(24 - exponent - places), places: places}
	}
	return scales
}()

const digitPairs = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// digits has the digits of a number, at most mostDigits, at its start, and room after them: copies
// of a constant length are faster than those of a few bytes.
type digits [mostDigits + 16]byte

const mostDigits = 10

// set writes the digits of v before mostDigits and returns where they start.
func (d *digits) set(v uint32) int {
	at := mostDigits
	for v >= 10 {
		pair := v % 100 * 2
		v /= 100
		at -= 2
		d[at], d[at+1] = digitPairs[pair], digitPairs[pair+1]
	}
	if v > 0 || at == mostDigits {
		at--
		d[at] = byte('0' + v)
	}
	return at
}

// appendTo appends n digits, at most 16, from a place on.
func (d *digits) appendTo(dst []byte, at, n int) []byte {
	end := len(dst) + n
	dst = slices.Grow(dst, 16)[:len(dst)+16]
	*(*[16]byte)(dst[end-n:]) = *(*[16]byte)(d[at:])
	return dst[:end]
}

// appendDigits appends a whole number.
func appendDigits(dst []byte, v uint32) []byte {
	if v < 10 {
		return append(dst, byte('0'+v))
	}
	var d digits
	at := d.set(v)
	return d.appendTo(dst, at, mostDigits-at)
}

// appendDecimal appends v / 10^places.
func appendDecimal(dst []byte, v uint32, places int) []byte {
	var d digits
	at := d.set(v)
	if places <= 0 {
		dst = d.appendTo(dst, at, mostDigits-at)
		for range -places {
			dst = append(dst, '0')
		}
		return dst
	}
	point := mostDigits - places
	if point > at {
		dst = append(d.appendTo(dst, at, point-at), '.')
		return d.appendTo(dst, point, places)
	}
	dst = append(dst, "0.000000000"[:2+at-point]...)
	return d.appendTo(dst, at, mostDigits-at)
}
