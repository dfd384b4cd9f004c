package columnar

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// arrowValues returns the values of an array. The values at nulls are undefined.
func arrowValues(a arrow.Array) (Segment, error) {
	s := Segment{n: a.Len()}
	switch a := a.(type) {
	case *array.Int8:
		s.i32 = widened[int8, int32](a.Int8Values())
	case *array.Int16:
		s.i32 = widened[int16, int32](a.Int16Values())
	case *array.Int32:
		s.i32 = a.Int32Values()
	case *array.Int64:
		s.i64 = a.Int64Values()
	case *array.Uint8:
		s.i32 = widened[uint8, int32](a.Uint8Values())
	case *array.Uint16:
		s.i32 = widened[uint16, int32](a.Uint16Values())
	case *array.Uint32:
		s.i64 = widened[uint32, int64](a.Uint32Values())
	case *array.Uint64:
		s.i64, s.form.kind = widened[uint64, int64](a.Uint64Values()), formUnsigned
	case *array.Float16:
		s.f32 = make([]float32, s.n)
		for i := range s.f32 {
			s.f32[i] = a.Value(i).Float32()
		}
	case *array.Float32:
		s.f32 = a.Float32Values()
	case *array.Float64:
		s.f64 = a.Float64Values()
	case *array.Boolean:
		s.i32, s.form.kind = make([]int32, s.n), formBool
		for i := range s.i32 {
			if a.Value(i) {
				s.i32[i] = 1
			}
		}
	case *array.Date32:
		s.i32, s.form.kind = widened[arrow.Date32, int32](a.Date32Values()), formDate
	case *array.Date64:
		s.i64, s.form = widened[arrow.Date64, int64](a.Date64Values()), form{formMoment, 1e3}
	case *array.Timestamp:
		s.i64, s.form = widened[arrow.Timestamp, int64](a.TimestampValues()), form{formMoment, unitsPerSecond(a.DataType().(*arrow.TimestampType).Unit)}
	case *array.Time32:
		s.i32, s.form = widened[arrow.Time32, int32](a.Time32Values()), form{formTime, unitsPerSecond(a.DataType().(*arrow.Time32Type).Unit)}
	case *array.Time64:
		s.i64, s.form = widened[arrow.Time64, int64](a.Time64Values()), form{formTime, unitsPerSecond(a.DataType().(*arrow.Time64Type).Unit)}
	case *array.Null:
		s.i32, s.valid = make([]int32, s.n), make([]bool, s.n)
	case *array.String:
		return arrowText(s, a.Data(), a.ValueOffsets())
	case *array.Binary:
		return arrowText(s, a.Data(), a.ValueOffsets())
	case *array.LargeString, *array.LargeBinary, *array.StringView, *array.BinaryView, *array.FixedSizeBinary, *array.Decimal128, *array.Decimal256, *array.Decimal32, *array.Decimal64:
		return arrowTexts(a)
	default:
		return s, fmt.Errorf("values of type %s cannot be read as ids or numbers", a.DataType())
	}
	return s, nil
}

// arrowText sets the texts of a segment, which shares the memory of the array.
func arrowText(s Segment, array arrow.ArrayData, offsets []int32) (Segment, error) {
	s.data, s.offsets = []byte{}, make([]uint32, s.n+1)
	if s.n == 0 {
		return s, nil
	}
	if b := array.Buffers()[2]; b != nil && b.Len() > 0 {
		s.data = b.Bytes()
	}
	if len(offsets) != s.n+1 {
		return s, errOffsets
	}
	last := int32(0)
	for i, v := range offsets {
		if v < last {
			return s, errOffsets
		}
		s.offsets[i], last = uint32(v), v
	}
	if int(last) > len(s.data) {
		return s, errOffsets
	}
	return s, nil
}

// arrowTexts copies the values of an array as text.
func arrowTexts(a arrow.Array) (Segment, error) {
	s := Segment{n: a.Len(), data: []byte{}, offsets: make([]uint32, 1, a.Len()+1)}
	const mostDigits = 76 // of 256 bits
	if d, ok := a.DataType().(arrow.DecimalType); ok && (d.GetScale() > mostDigits || d.GetScale() < -mostDigits) {
		return s, fmt.Errorf("decimals with %d digits after the point cannot be read", d.GetScale())
	}
	for i := range s.n {
		if a.IsValid(i) {
			switch a := a.(type) {
			case *array.LargeString:
				s.data = append(s.data, a.Value(i)...)
			case *array.LargeBinary:
				s.data = append(s.data, a.Value(i)...)
			case *array.StringView:
				s.data = append(s.data, a.Value(i)...)
			case *array.BinaryView:
				s.data = append(s.data, a.Value(i)...)
			case *array.FixedSizeBinary:
				s.data = append(s.data, a.Value(i)...)
			case *array.Decimal32:
				s.data = appendArrowDecimal(s.data, strconv.Itoa(int(a.Value(i))), a.DataType())
			case *array.Decimal64:
				s.data = appendArrowDecimal(s.data, strconv.FormatInt(int64(a.Value(i)), 10), a.DataType())
			case *array.Decimal128:
				s.data = appendArrowDecimal(s.data, a.Value(i).BigInt().String(), a.DataType())
			case *array.Decimal256:
				s.data = appendArrowDecimal(s.data, a.Value(i).BigInt().String(), a.DataType())
			}
		}
		if len(s.data) > math.MaxUint32 {
			return s, fmt.Errorf("the texts of one batch exceed 4 GB")
		}
		s.offsets = append(s.offsets, uint32(len(s.data)))
	}
	return s, nil
}

// appendArrowDecimal appends a decimal with all digits of its scale, as Parquet files
// give them.
func appendArrowDecimal(dst []byte, digits string, of arrow.DataType) []byte {
	scale := int(of.(arrow.DecimalType).GetScale())
	if scale >= 0 {
		return appendScaled(dst, digits, scale)
	}
	if digits == "0" {
		return append(dst, '0')
	}
	return append(append(dst, digits...), strings.Repeat("0", -scale)...)
}

func unitsPerSecond(unit arrow.TimeUnit) int64 {
	switch unit {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1e3
	case arrow.Microsecond:
		return 1e6
	}
	return 1e9
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func widened[From, To integer](values []From) []To {
	out := make([]To, len(values))
	for i, v := range values {
		out[i] = To(v)
	}
	return out
}
