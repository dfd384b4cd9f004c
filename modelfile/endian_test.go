package modelfile

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

func TestValuesInAnyByteOrder(t *testing.T) {
	testByteOrder(t, []float32{1, -2.5, math.MaxFloat32}, "\x00\x00\x80\x3f\x00\x00\x20\xc0\xff\xff\x7f\x7f")
	testByteOrder(t, []float64{1, -2}, "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0")
	testByteOrder(t, []int32{1, -2}, "\x01\x00\x00\x00\xfe\xff\xff\xff")
	testByteOrder(t, []int64{258, -1}, "\x02\x01\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff")
	testByteOrder(t, []int32{}, "")
}

func testByteOrder[T Element](t *testing.T, values []T, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n := encodeValues(got, values); n != len(want) || string(got) != want {
		t.Errorf("encode %v: got %x, want %x", values, got[:n], want)
	}
	if littleEndian && !bytes.Equal(bytesOf(values), []byte(want)) {
		t.Errorf("memory of %v: got %x, want %x", values, bytesOf(values), want)
	}
	back := make([]T, len(values))
	decodeValues(back, []byte(want))
	if !slices.Equal(back, values) {
		t.Errorf("decode %x: got %v, want %v", want, back, values)
	}
}
