package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/kernel-fried-tensor/kft/dataset/internal/packed"
)

// values decodes n values without nulls. The result shares no memory with data.
func (c *parquetColumn) values(encoding format.Encoding, data []byte, n int) (Segment, error) {
	s := Segment{n: n, form: c.form}
	var err error
	switch {
	case encoding == format.Plain && c.kind == format.Boolean:
		err = s.setBits(data, n)
	case encoding == format.Plain && c.kind == format.ByteArray:
		s.data, s.offsets, err = plainTexts(data, n)
	case encoding == format.Plain:
		err = s.setFixed(c, data, n)
	case encoding == format.RLE && c.kind == format.Boolean:
		err = s.setRunBits(data, n)
	case encoding == format.ByteStreamSplit:
		if data, err = joinStreams(data, c.width(), n); err == nil {
			err = s.setFixed(c, data, n)
		}
	case encoding == format.DeltaBinaryPacked && c.kind == format.Int32:
		var wide []int64
		wide, _, err = packed.Deltas(data, n)
		s.i32 = widened[int64, int32](wide)
	case encoding == format.DeltaBinaryPacked && c.kind == format.Int64:
		s.i64, _, err = packed.Deltas(data, n)
	case encoding == format.DeltaLengthByteArray && c.kind == format.ByteArray:
		s.data, s.offsets, err = deltaTexts(data, n)
	case encoding == format.DeltaByteArray && (c.kind == format.ByteArray || c.kind == format.FixedLenByteArray):
		s.data, s.offsets, err = frontCodedTexts(data, n)
		if err == nil && c.kind == format.FixedLenByteArray {
			for i := range n {
				if s.offsets[i+1]-s.offsets[i] != uint32(c.length) {
					return s, fmt.Errorf("a value does not have %d bytes", c.length)
				}
			}
		}
	default:
		err = unsupported(fmt.Sprintf("values of type %s in the encoding %s are not supported", c.kind, encoding))
	}
	if err != nil {
		return s, err
	}
	if s.form.kind == formUnsigned && s.i32 != nil {
		s.i64 = make([]int64, n)
		for i, v := range s.i32 {
			s.i64[i] = int64(uint32(v))
		}
		s.i32 = nil
	}
	return c.written(s), nil
}

// width returns the number of bytes of a value, or 0 if it varies.
func (c *parquetColumn) width() int {
	switch c.kind {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return c.length
	}
	return 0
}

// setFixed takes values of a fixed number of bytes.
func (s *Segment) setFixed(c *parquetColumn, data []byte, n int) error {
	width := c.width()
	if width < 1 || n > len(data)/width {
		return fmt.Errorf("%d bytes for %d values of %d", len(data), n, width)
	}
	data = data[:n*width]
	switch c.kind {
	case format.Int32:
		s.i32 = make([]int32, n)
		copy(bytesOf(s.i32), data)
	case format.Int64:
		s.i64 = make([]int64, n)
		copy(bytesOf(s.i64), data)
	case format.Float:
		s.f32 = make([]float32, n)
		copy(bytesOf(s.f32), data)
	case format.Double:
		s.f64 = make([]float64, n)
		copy(bytesOf(s.f64), data)
	case format.Int96:
		s.i64 = make([]int64, n)
		for i := range s.i64 {
			s.i64[i] = int96Moment(data[12*i:])
		}
	default:
		s.data, s.offsets = append([]byte{}, data...), make([]uint32, n+1)
		for i := range s.offsets {
			s.offsets[i] = uint32(i * width)
		}
	}
	return nil
}

// setBits takes values of one bit.
func (s *Segment) setBits(data []byte, n int) error {
	if (n+7)/8 > len(data) {
		return fmt.Errorf("%d bytes for %d bits", len(data), n)
	}
	s.i32 = make([]int32, n)
	for i := range s.i32 {
		s.i32[i] = int32(data[i/8] >> (i % 8) & 1)
	}
	return nil
}

// setRunBits takes values of one bit in runs, after the size of the runs.
func (s *Segment) setRunBits(data []byte, n int) error {
	if n == 0 {
		s.i32 = []int32{}
		return nil
	}
	runs, _, err := sizedPart(data)
	if err != nil {
		return err
	}
	s.i32 = make([]int32, n)
	return packed.UnpackRuns(s.i32, runs, 1)
}

// sizedPart splits data after a part whose size comes first.
func sizedPart(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errTruncated
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, fmt.Errorf("a part of %d bytes in a page of %d", n, len(data))
	}
	return data[4:][:n], data[4+n:], nil
}

// plainTexts takes texts, each after its length.
func plainTexts(src []byte, n int) (data []byte, offsets []uint32, err error) {
	if n > len(src)/4 {
		return nil, nil, fmt.Errorf("%d bytes for %d texts", len(src), n)
	}
	data, offsets = make([]byte, 0, len(src)-4*n), make([]uint32, n+1)
	for i := range n {
		if len(src) < 4 {
			return nil, nil, errTruncated
		}
		size := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if uint64(size) > uint64(len(src)) {
			return nil, nil, fmt.Errorf("a text of %d bytes in a page with %d more", size, len(src))
		}
		data = append(data, src[:size]...)
		src = src[size:]
		offsets[i+1] = uint32(len(data))
	}
	return data, offsets, nil
}

// joinStreams takes values of which the first bytes come first, then the second bytes,
// and so on.
func joinStreams(src []byte, width, n int) ([]byte, error) {
	if width < 1 || n > len(src)/width {
		return nil, fmt.Errorf("%d bytes for %d values of %d", len(src), n, width)
	}
	out := make([]byte, n*width)
	stride := len(src) / width
	for b := range width {
		stream := src[b*stride:][:n]
		for i, v := range stream {
			out[i*width+b] = v
		}
	}
	return out, nil
}

// deltaTexts takes the lengths of texts, as differences, and then the texts.
func deltaTexts(src []byte, n int) (data []byte, offsets []uint32, err error) {
	lengths, rest, err := packed.Deltas(src, n)
	if err != nil {
		return nil, nil, err
	}
	offsets = make([]uint32, n+1)
	total := int64(0)
	for i, length := range lengths {
		if length < 0 || length > int64(len(rest))-total {
			return nil, nil, fmt.Errorf("a text of %d bytes in a page with %d", length, len(rest))
		}
		total += length
		offsets[i+1] = uint32(total)
	}
	return append([]byte{}, rest[:total]...), offsets, nil
}

// frontCodedTexts takes for each text the number of bytes that it has in common with
// the text before it, as differences, and the texts without these bytes.
func frontCodedTexts(src []byte, n int) (data []byte, offsets []uint32, err error) {
	common, rest, err := packed.Deltas(src, n)
	if err != nil {
		return nil, nil, err
	}
	ends, endOffsets, err := deltaTexts(rest, n)
	if err != nil {
		return nil, nil, err
	}
	data, offsets = []byte{}, make([]uint32, n+1)
	last := 0 // start of the text before
	for i, length := range common {
		if length < 0 || length > int64(len(data)-last) {
			return nil, nil, fmt.Errorf("a text has %d bytes in common with one of %d", length, len(data)-last)
		}
		start := len(data)
		data = append(data, data[last:last+int(length)]...)
		data = append(data, ends[endOffsets[i]:endOffsets[i+1]]...)
		if len(data) > math.MaxInt32 {
			return nil, nil, errors.New("the texts of one page exceed 2 GB")
		}
		last = start
		offsets[i+1] = uint32(len(data))
	}
	return data, offsets, nil
}
