package columnar

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// parquetColumn is a column of the schema.
type parquetColumn struct {
	name     string
	leaf     int // index among the column chunks of a row group, or -1 for a nested column
	kind     format.Type
	length   int  // of values of fixed length
	optional bool // values may be null
	form     form
	special  string // uuid, decimal, float16 or ""
	scale    int    // of decimals that are stored as bytes
	problem  string // why the values cannot be read, or ""
}

// describe determines what the values of a leaf mean.
func (c *parquetColumn) describe(e *format.SchemaElement) {
	c.kind, c.length = e.Type.V, int(e.TypeLength.V)
	c.optional = e.RepetitionType.Valid && e.RepetitionType.V == format.Optional
	switch c.kind {
	case format.Boolean:
		c.form.kind = formBool
	case format.Int96:
		c.form = form{formMoment, 1e9}
	}
	integers := c.kind == format.Int32 || c.kind == format.Int64
	switch l := logicalType(e).(type) {
	case *format.DateType:
		if integers {
			c.form.kind = formDate
		}
	case *format.TimestampType:
		if integers {
			c.form = form{formMoment, perSecond(l.Unit)}
		}
	case *format.TimeType:
		if integers {
			c.form = form{formTime, perSecond(l.Unit)}
		}
	case *format.IntType:
		if integers && !l.IsSigned {
			c.form.kind = formUnsigned
		}
	case *format.UUIDType:
		c.fixed("uuid", 16)
	case *format.Float16Type:
		c.fixed("float16", 2)
	case *format.DecimalType:
		c.describeDecimal(int(l.Scale))
	}
}

// fixed makes the values those of a type with a fixed number of bytes.
func (c *parquetColumn) fixed(special string, length int) {
	c.special = special
	if c.kind != format.FixedLenByteArray || c.length != length {
		c.problem = fmt.Sprintf("the values are of type %s but do not have %d bytes", special, length)
	}
}

// describeDecimal is describe for decimals with digits after the point.
func (c *parquetColumn) describeDecimal(scale int) {
	switch c.kind {
	case format.Int32, format.Int64:
		if scale < 0 || scale > 18 {
			c.problem = fmt.Sprintf("decimals with %d digits after the point", scale)
			return
		}
		c.form = form{formDecimal, 1}
		for range scale {
			c.form.per *= 10
		}
	case format.ByteArray, format.FixedLenByteArray:
		c.special, c.scale = "decimal", scale
		if scale < 0 || scale > 76 { // the most digits of 256 bits
			c.problem = fmt.Sprintf("decimals with %d digits after the point", scale)
		}
	default:
		c.problem = fmt.Sprintf("decimals that are stored as %s", c.kind)
	}
}

// logicalType returns what the values of a leaf mean, also for files of old writers.
func logicalType(e *format.SchemaElement) format.LogicalTypeValue {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	milliseconds, microseconds := format.TimeUnit{Value: &format.MilliSeconds{}}, format.TimeUnit{Value: &format.MicroSeconds{}}
	switch e.ConvertedType.V {
	case deprecated.Date:
		return &format.DateType{}
	case deprecated.TimeMillis:
		return &format.TimeType{Unit: milliseconds}
	case deprecated.TimeMicros:
		return &format.TimeType{Unit: microseconds}
	case deprecated.TimestampMillis:
		return &format.TimestampType{Unit: milliseconds}
	case deprecated.TimestampMicros:
		return &format.TimestampType{Unit: microseconds}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{}
	case deprecated.Decimal:
		return &format.DecimalType{Scale: e.Scale.V, Precision: e.Precision.V}
	}
	return nil
}

func perSecond(unit format.TimeUnit) int64 {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	}
	return 1e9
}

func (t *parquetTable) Kind(column int) Kind {
	c := &t.columns[column]
	if c.leaf < 0 {
		return Kind{Type: Text}
	}
	switch c.kind {
	case format.Boolean, format.Int32, format.Int64, format.Int96:
		if c.kind == format.Int32 && c.form.kind == formUnsigned {
			return Kind{Type: Integer}
		}
		return c.form.kindOf()
	case format.Float:
		return Kind{Type: Float32}
	case format.Double:
		return Kind{Type: Float64}
	}
	return Kind{Type: Text}
}

// written converts bytes that encode something else into its text.
func (c *parquetColumn) written(s Segment) Segment {
	if c.special == "" {
		return s
	}
	out := Segment{n: s.n, data: []byte{}, offsets: make([]uint32, 1, s.n+1)}
	for i := range s.n {
		value := s.text(i)
		switch c.special {
		case "uuid":
			out.data = fmt.Appendf(out.data, "%x-%x-%x-%x-%x", value[:4], value[4:6], value[6:8], value[8:10], value[10:])
		case "float16":
			out.data = fmt.Appendf(out.data, "%g", float16(binary.LittleEndian.Uint16(value)))
		case "decimal":
			v := new(big.Int).SetBytes(value)
			if len(value) > 0 && value[0]&0x80 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
			}
			out.data = appendScaled(out.data, v.String(), c.scale)
		}
		out.offsets = append(out.offsets, uint32(len(out.data)))
	}
	return out
}

// int96Moment returns nanoseconds since 1970. The first eight bytes contain the
// nanoseconds of the day, the last four the Julian day.
func int96Moment(v []byte) int64 {
	const julian1970 = 2440588
	day := int64(binary.LittleEndian.Uint32(v[8:])) - julian1970
	return day*secondsOfDay*1e9 + int64(binary.LittleEndian.Uint64(v))
}
