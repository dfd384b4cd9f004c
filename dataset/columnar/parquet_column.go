package columnar

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// parquetColumn is a column of the schema.
type parquetColumn struct {
	name    string
	leaf    int // index among the column chunks of a row group, or -1 for a nested column
	kind    parquet.Kind
	form    form
	special string // uuid, decimal, float16 or ""
	scale   int    // of decimals that are stored as bytes
}

// describe determines what the values of a type mean.
func (c *parquetColumn) describe(t parquet.Type) {
	c.kind = t.Kind()
	logical := t.LogicalType()
	if c.kind == parquet.Boolean {
		c.form.kind = formBool
	}
	if c.kind == parquet.Int96 {
		c.form = form{formMoment, 1e9}
	}
	if logical == nil {
		return
	}
	switch l := logical.Value.(type) {
	case *format.DateType:
		c.form.kind = formDate
	case *format.TimestampType:
		c.form = form{formMoment, perSecond(l.Unit)}
	case *format.TimeType:
		c.form = form{formTime, perSecond(l.Unit)}
	case *format.IntType:
		if !l.IsSigned {
			c.form.kind = formUnsigned
		}
	case *format.UUIDType:
		c.special = "uuid"
	case *format.Float16Type:
		c.special = "float16"
	case *format.DecimalType:
		c.special, c.scale = "decimal", int(l.Scale)
		if c.kind == parquet.Int32 || c.kind == parquet.Int64 {
			c.special = ""
			c.form = form{formDecimal, 1}
			for range min(max(c.scale, 0), 18) {
				c.form.per *= 10
			}
		}
	}
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
	switch c.kind {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Int96:
		if c.kind == parquet.Int32 && c.form.kind == formUnsigned {
			return Kind{Type: Integer}
		}
		return c.form.kindOf()
	case parquet.Float:
		return Kind{Type: Float32}
	case parquet.Double:
		return Kind{Type: Float64}
	}
	return Kind{Type: Text}
}

// values returns a segment of n values without nulls.
func (c *parquetColumn) values(data encoding.Values, n int) (Segment, error) {
	s := Segment{n: n, form: c.form}
	have := 0
	switch c.kind {
	case parquet.Boolean:
		bits := data.Boolean()
		have = min(8*len(bits), n)
		s.i32 = make([]int32, have)
		for i := range s.i32 {
			s.i32[i] = int32(bits[i/8] >> (i % 8) & 1)
		}
	case parquet.Int32:
		s.i32 = data.Int32()
		have = len(s.i32)
		if c.form.kind == formUnsigned && have >= n {
			s.i64 = make([]int64, n)
			for i, v := range s.i32[:n] {
				s.i64[i] = int64(uint32(v))
			}
			s.i32 = nil
		}
	case parquet.Int64:
		s.i64 = data.Int64()
		have = len(s.i64)
	case parquet.Int96:
		moments := data.Int96()
		have = min(len(moments), n)
		s.i64 = make([]int64, have)
		for i, v := range moments[:have] {
			s.i64[i] = int96Moment(v)
		}
	case parquet.Float:
		s.f32 = data.Float()
		have = len(s.f32)
	case parquet.Double:
		s.f64 = data.Double()
		have = len(s.f64)
	case parquet.ByteArray:
		s.data, s.offsets = data.ByteArray()
		have = len(s.offsets) - 1
		if n == 0 {
			s.offsets = make([]uint32, 1)
			have = 0
		}
	case parquet.FixedLenByteArray:
		bytes, size := data.FixedLenByteArray()
		if size < 1 {
			return s, fmt.Errorf("values of %d bytes", size)
		}
		have = len(bytes) / size
		s.data, s.offsets = bytes, make([]uint32, have+1)
		for i := range s.offsets {
			s.offsets[i] = uint32(i * size)
		}
	}
	if have < n {
		return s, fmt.Errorf("%d values instead of %d", have, n)
	}
	whole := s.slice(0, n)
	return c.written(whole), nil
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
			if len(value) == 16 {
				out.data = fmt.Appendf(out.data, "%x-%x-%x-%x-%x", value[:4], value[4:6], value[6:8], value[8:10], value[10:])
			}
		case "float16":
			if len(value) == 2 {
				out.data = fmt.Appendf(out.data, "%g", float16(binary.LittleEndian.Uint16(value)))
			}
		case "decimal":
			v := new(big.Int).SetBytes(value)
			if len(value) > 0 && value[0]&0x80 != 0 {
				v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
			}
			out.data = appendScaled(out.data, v.String(), max(0, c.scale))
		}
		out.offsets = append(out.offsets, uint32(len(out.data)))
	}
	return out
}

// int96Moment returns nanoseconds since 1970. The first eight bytes contain the
// nanoseconds of the day, the last four the Julian day.
func int96Moment(v deprecated.Int96) int64 {
	const julian1970 = 2440588
	return (int64(v[2])-julian1970)*secondsOfDay*1e9 + int64(uint64(v[1])<<32|uint64(v[0]))
}
