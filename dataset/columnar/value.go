package columnar

import (
	"math"
	"strconv"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// form is the meaning of integers, which determines how they are written.
type form struct {
	kind formKind
	per  int64 // for moments and times: units per second; for decimals: 10^scale
}

type formKind uint8

const (
	formInteger formKind = iota
	formUnsigned
	formBool
	formDate
	formMoment // 2016-12-31 23:59:59.5
	formTime   // 23:59:59.5
	formDecimal
)

// null reports whether value i is null.
func (s *Segment) null(i int) bool {
	if s.index != nil {
		return s.index[i] < 0 || s.dict.values.null(int(s.index[i]))
	}
	return s.valid != nil && !s.valid[i]
}

// appendText appends value i as a field of a text table would contain it. Null is
// empty.
func (s *Segment) appendText(dst []byte, i int) []byte {
	if s.null(i) {
		return dst
	}
	switch {
	case s.index != nil:
		return s.dict.values.appendText(dst, int(s.index[i]))
	case s.i32 != nil:
		return s.form.appendText(dst, int64(s.i32[i]))
	case s.i64 != nil:
		return s.form.appendText(dst, s.i64[i])
	case s.f32 != nil:
		return fieldtext.AppendFloat32(dst, s.f32[i])
	case s.f64 != nil:
		return strconv.AppendFloat(dst, s.f64[i], 'g', -1, 64)
	}
	return append(dst, s.text(i)...)
}

func (s *Segment) text(i int) []byte { return s.data[s.offsets[i]:s.offsets[i+1]] }

func (f form) appendText(dst []byte, v int64) []byte {
	switch f.kind {
	case formUnsigned:
		return strconv.AppendUint(dst, uint64(v), 10)
	case formBool:
		return strconv.AppendBool(dst, v != 0)
	case formDate:
		return time.Unix(v*secondsOfDay, 0).UTC().AppendFormat(dst, "2006-01-02")
	case formMoment:
		return f.moment(v).AppendFormat(dst, "2006-01-02 15:04:05.999999999")
	case formTime:
		return f.moment(v).AppendFormat(dst, "15:04:05.999999999")
	case formDecimal:
		return appendDecimal(dst, strconv.FormatInt(v, 10), f.per)
	}
	return strconv.AppendInt(dst, v, 10)
}

const secondsOfDay = 24 * 60 * 60

func (f form) moment(v int64) time.Time {
	second := v / f.per
	rest := v % f.per
	if rest < 0 {
		second, rest = second-1, rest+f.per
	}
	return time.Unix(second, rest*(1e9/f.per)).UTC()
}

// appendDecimal appends digits, optionally after a minus sign, divided by per, a power
// of ten.
func appendDecimal(dst []byte, digits string, per int64) []byte {
	scale := 0
	for ; per > 1; per /= 10 {
		scale++
	}
	return appendScaled(dst, digits, scale)
}

// appendScaled appends digits with a decimal point before the last scale of them.
func appendScaled(dst []byte, digits string, scale int) []byte {
	if digits[0] == '-' {
		dst = append(dst, '-')
		digits = digits[1:]
	}
	for len(digits) <= scale {
		digits = "0" + digits
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-scale:]...)
	}
	return dst
}

// number reads value i by the rules for targets: null is missing, text is parsed, a
// date is not a number.
func (s *Segment) number(i int) (float32, numeric.Kind) {
	if s.null(i) {
		return float32(math.NaN()), numeric.Missing
	}
	switch {
	case s.index != nil:
		numbers, kinds := s.dict.asNumbers()
		return numbers[s.index[i]], kinds[s.index[i]]
	case s.i32 != nil:
		return s.form.number(int64(s.i32[i]))
	case s.i64 != nil:
		return s.form.number(s.i64[i])
	case s.f32 != nil:
		return floatKind(s.f32[i])
	case s.f64 != nil:
		return floatKind(float32(s.f64[i]))
	}
	return numeric.Parse(fieldtext.Trim(s.text(i)))
}

func (f form) number(v int64) (float32, numeric.Kind) {
	switch f.kind {
	case formInteger, formBool:
		return float32(v), numeric.Finite
	case formUnsigned:
		return float32(uint64(v)), numeric.Finite
	case formDecimal:
		return float32(float64(v) / float64(f.per)), numeric.Finite
	}
	return 0, numeric.Text
}

func floatKind(v float32) (float32, numeric.Kind) {
	switch {
	case v != v:
		return v, numeric.NaN // refused, like the text NaN
	case math.IsInf(float64(v), 0):
		return v, numeric.Infinite
	}
	return v, numeric.Finite
}

// asNumbers returns every entry as a number. They are read once.
func (d *dictionary) asNumbers() ([]float32, []numeric.Kind) {
	d.read.Do(func() {
		d.numbers = make([]float32, d.values.n)
		d.kinds = make([]numeric.Kind, d.values.n)
		d.allNumbers = true
		for i := range d.numbers {
			d.numbers[i], d.kinds[i] = d.values.number(i)
			d.allNumbers = d.allNumbers && d.kinds[i] == numeric.Finite
		}
	})
	return d.numbers, d.kinds
}

// float16 converts a number of half precision.
func float16(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits>>15)<<31, int(bits>>10&31), uint32(bits&1023)
	switch exponent {
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	case 0:
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(v))
	}
	return math.Float32frombits(sign | uint32(exponent+112)<<23 | fraction<<13)
}
