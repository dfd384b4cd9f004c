package dataset

import (
	"math"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// segment is a run of values of one column of a typed table (Parquet, Arrow). One
// of index, i32, i64, f32, f64 and data holds them; the memory is that of the page
// they were read from.
type segment struct {
	n       int
	valid   []bool      // nil where no value is null; of index -1 is null
	index   []int32     // places in dict
	dict    *dictionary // of index
	i32     []int32
	i64     []int64
	f32     []float32
	f64     []float64
	data    []byte // text i is data[offsets[i]:offsets[i+1]]
	offsets []uint32
	form    form
}

// dictionary is the distinct values of a column, or of a part of it.
type dictionary struct {
	values segment

	read    sync.Once
	numbers []float32
	kinds   []numberKind

	allNumbers bool // once read

	hashed sync.Once
	hash   [32]byte
}

// form says what integers stand for, and so how they are written.
type form struct {
	kind formKind
	per  int64 // of moments and times: units a second; of decimals: 10^scale
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

// null reports whether value i is.
func (s *segment) null(i int) bool {
	if s.index != nil {
		return s.index[i] < 0 || s.dict.values.null(int(s.index[i]))
	}
	return s.valid != nil && !s.valid[i]
}

// appendText writes value i as a field of a text table would hold it, nothing for
// null.
func (s *segment) appendText(dst []byte, i int) []byte {
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
		return strconv.AppendFloat(dst, float64(s.f32[i]), 'g', -1, 32)
	case s.f64 != nil:
		return strconv.AppendFloat(dst, s.f64[i], 'g', -1, 64)
	}
	return append(dst, s.text(i)...)
}

func (s *segment) text(i int) []byte { return s.data[s.offsets[i]:s.offsets[i+1]] }

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

// appendDecimal writes digits, perhaps after a minus, divided by a power of ten.
func appendDecimal(dst []byte, digits string, per int64) []byte {
	scale := 0
	for ; per > 1; per /= 10 {
		scale++
	}
	return appendScaled(dst, digits, scale)
}

// appendScaled writes digits with a point before the last scale of them.
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

// number reads value i as a target is read: null is missing, text is parsed, a date
// is no number.
func (s *segment) number(i int) (float32, numberKind) {
	if s.null(i) {
		return float32(math.NaN()), isMissing
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
	return parseNumber(trim(s.text(i)))
}

func (f form) number(v int64) (float32, numberKind) {
	switch f.kind {
	case formInteger, formBool:
		return float32(v), isNumber
	case formUnsigned:
		return float32(uint64(v)), isNumber
	case formDecimal:
		return float32(float64(v) / float64(f.per)), isNumber
	}
	return 0, isText
}

func floatKind(v float32) (float32, numberKind) {
	switch {
	case v != v:
		return v, isNaN // refused, as the text NaN is
	case math.IsInf(float64(v), 0):
		return v, isInfinite
	}
	return v, isNumber
}

// asNumbers reads every entry once.
func (d *dictionary) asNumbers() ([]float32, []numberKind) {
	d.read.Do(func() {
		d.numbers = make([]float32, d.values.n)
		d.kinds = make([]numberKind, d.values.n)
		d.allNumbers = true
		for i := range d.numbers {
			d.numbers[i], d.kinds[i] = d.values.number(i)
			d.allNumbers = d.allNumbers && d.kinds[i] == isNumber
		}
	})
	return d.numbers, d.kinds
}

// slice returns values from to to.
func (s *segment) slice(from, to int) segment {
	out := segment{n: to - from, dict: s.dict, form: s.form}
	if s.valid != nil {
		out.valid = s.valid[from:to]
	}
	switch {
	case s.index != nil:
		out.index = s.index[from:to]
	case s.i32 != nil:
		out.i32 = s.i32[from:to]
	case s.i64 != nil:
		out.i64 = s.i64[from:to]
	case s.f32 != nil:
		out.f32 = s.f32[from:to]
	case s.f64 != nil:
		out.f64 = s.f64[from:to]
	default:
		out.data, out.offsets = s.data, s.offsets[from:to+1]
	}
	return out
}

// pick returns the values at some places.
func (s *segment) pick(at []int32) segment {
	out := segment{n: len(at), dict: s.dict, form: s.form}
	if s.valid != nil {
		out.valid = picked(s.valid, at)
	}
	switch {
	case s.index != nil:
		out.index = picked(s.index, at)
	case s.i32 != nil:
		out.i32 = picked(s.i32, at)
	case s.i64 != nil:
		out.i64 = picked(s.i64, at)
	case s.f32 != nil:
		out.f32 = picked(s.f32, at)
	case s.f64 != nil:
		out.f64 = picked(s.f64, at)
	default:
		out.data, out.offsets = []byte{}, make([]uint32, 1, len(at)+1)
		for _, i := range at {
			out.data = append(out.data, s.text(int(i))...)
			out.offsets = append(out.offsets, uint32(len(out.data)))
		}
	}
	return out
}

func picked[T any](values []T, at []int32) []T {
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = values[i]
	}
	return out
}

// spread puts the values of a segment that has none for nulls where present says.
func (s *segment) spread(present []bool) segment {
	out := segment{n: len(present), valid: present, dict: s.dict, form: s.form}
	switch {
	case s.index != nil:
		out.index, out.valid = spreadOver(s.index, present, -1), nil
	case s.i32 != nil:
		out.i32 = spreadOver(s.i32, present, 0)
	case s.i64 != nil:
		out.i64 = spreadOver(s.i64, present, 0)
	case s.f32 != nil:
		out.f32 = spreadOver(s.f32, present, 0)
	case s.f64 != nil:
		out.f64 = spreadOver(s.f64, present, 0)
	default:
		out.data, out.offsets = s.data, make([]uint32, len(present)+1)
		if s.n == 0 {
			break // nothing but nulls
		}
		at := 0
		out.offsets[0] = s.offsets[0]
		for i, isPresent := range present {
			if isPresent {
				at++
			}
			out.offsets[i+1] = s.offsets[at]
		}
	}
	return out
}

func spreadOver[T any](values []T, present []bool, absent T) []T {
	out := make([]T, len(present))
	at := 0
	for i, isPresent := range present {
		out[i] = absent
		if isPresent {
			out[i] = values[at]
			at++
		}
	}
	return out
}

// raw returns the memory that holds the values, for fingerprints.
func (s *segment) raw() []byte {
	switch {
	case s.index != nil:
		return bytesOf(s.index)
	case s.i32 != nil:
		return bytesOf(s.i32)
	case s.i64 != nil:
		return bytesOf(s.i64)
	case s.f32 != nil:
		return bytesOf(s.f32)
	case s.f64 != nil:
		return bytesOf(s.f64)
	}
	return s.data[s.offsets[0]:s.offsets[s.n]]
}

// bytesOf returns the memory of a slice of numbers.
func bytesOf[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// float16 widens a number of half precision.
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
