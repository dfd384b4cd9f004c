package columnar

import (
	"sync"
	"unsafe"

	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
	"github.com/kernel-fried-tensor/kft/internal/gather"
)

// A Segment is a run of values of one column. One of index, i32, i64, f32, f64 and
// data contains them. Where possible it shares the memory of the page from which the
// values were read.
type Segment struct {
	n       int
	valid   []bool      // nil if no value is null; an index of -1 is null
	index   []int32     // into dict
	dict    *dictionary // of index
	i32     []int32
	i64     []int64
	f32     []float32
	f64     []float64
	data    []byte // text i is data[offsets[i]:offsets[i+1]]
	offsets []uint32
	form    form
}

// dictionary contains the distinct values of a column, or of a part of it.
type dictionary struct {
	values Segment

	read    sync.Once
	numbers []float32
	kinds   []numeric.Kind

	allNumbers bool // valid once the numbers are read

	hashed sync.Once
	hash   [32]byte
}

// slice returns the values [from, to).
func (s *Segment) slice(from, to int) Segment {
	out := Segment{n: to - from, dict: s.dict, form: s.form}
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

// pick returns the values at some indexes.
func (s *Segment) pick(at []int32) Segment {
	out := Segment{n: len(at), dict: s.dict, form: s.form}
	if s.valid != nil {
		out.valid = gather.Rows(s.valid, at)
	}
	switch {
	case s.index != nil:
		out.index = gather.Rows(s.index, at)
	case s.i32 != nil:
		out.i32 = gather.Rows(s.i32, at)
	case s.i64 != nil:
		out.i64 = gather.Rows(s.i64, at)
	case s.f32 != nil:
		out.f32 = gather.Rows(s.f32, at)
	case s.f64 != nil:
		out.f64 = gather.Rows(s.f64, at)
	default:
		out.data, out.offsets = []byte{}, make([]uint32, 1, len(at)+1)
		for _, i := range at {
			out.data = append(out.data, s.text(int(i))...)
			out.offsets = append(out.offsets, uint32(len(out.data)))
		}
	}
	return out
}

// spread inserts nulls into a segment that contains only the values present.
func (s *Segment) spread(present []bool) Segment {
	out := Segment{n: len(present), valid: present, dict: s.dict, form: s.form}
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
			break // only nulls
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

// raw returns the memory of the values, for fingerprints.
func (s *Segment) raw() []byte {
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
