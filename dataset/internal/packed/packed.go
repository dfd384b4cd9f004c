// Package packed reads the packed integers of Parquet: runs of values, levels of presence and differences.
package packed

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/bitpack"
)

// ErrShort is the error of data that ends before its values.
var ErrShort = errors.New("a page contains fewer values than it states")

// run is a run of values: one value many times, or values packed by bits.
type run struct {
	n      int
	value  uint32
	packed []byte // nil for one value
}

// nextRun reads a run of values of width bits, and returns what follows it.
func nextRun(src []byte, width uint) (r run, rest []byte, err error) {
	head, used := binary.Uvarint(src)
	if used <= 0 {
		return r, nil, ErrShort
	}
	src = src[used:]
	count := head >> 1
	const most = 1 << 31
	if count >= most {
		return r, nil, fmt.Errorf("a run of %d values", count)
	}
	if head&1 == 0 {
		size := int(width+7) / 8
		if len(src) < size {
			return r, nil, ErrShort
		}
		var word [4]byte
		copy(word[:], src[:size])
		return run{n: int(count), value: binary.LittleEndian.Uint32(word[:])}, src[size:], nil
	}
	// Groups of eight values. The last of them may end early.
	size := min(int(count)*int(width), len(src))
	n := int(count) * 8
	if width > 0 {
		n = min(n, size*8/int(width))
	}
	return run{n: n, packed: src[:size:size]}, src[size:], nil
}

// UnpackRuns fills dst with values of width bits in runs.
func UnpackRuns(dst []int32, src []byte, width uint) error {
	if width > 32 {
		return fmt.Errorf("values of %d bits", width)
	}
	for len(dst) > 0 {
		r, rest, err := nextRun(src, width)
		if err != nil {
			return err
		}
		if r.n == 0 && len(rest) == 0 {
			return ErrShort
		}
		n := min(r.n, len(dst))
		switch {
		case r.packed == nil || width == 0:
			for i := range dst[:n] {
				dst[i] = int32(r.value)
			}
		default:
			unpack(dst[:n], src[len(src)-len(rest)-len(r.packed):], len(r.packed), width)
		}
		dst, src = dst[n:], rest
	}
	return nil
}

// unpack reads values of width bits from the first size bytes of src. The unpacking
// reads beyond them: if src ends there, it works on a copy.
func unpack(dst []int32, src []byte, size int, width uint) {
	if len(src) < size+bitpack.PaddingInt32 {
		padded := make([]byte, size+bitpack.PaddingInt32)
		copy(padded, src[:size])
		src = padded
	}
	bitpack.Unpack(dst, src, width)
}

// Presence reads which of n values are present, from levels of one bit in runs. It
// returns nil if all are, and their number.
func Presence(src []byte, n int) (present []bool, found int, err error) {
	for at := 0; at < n; {
		r, rest, err := nextRun(src, 1)
		if err != nil {
			return nil, 0, err
		}
		if r.n == 0 && len(rest) == 0 {
			return nil, 0, ErrShort
		}
		count := min(r.n, n-at)
		if r.packed == nil && r.value > 1 {
			return nil, 0, fmt.Errorf("a level of %d in a column without nesting", r.value)
		}
		if r.packed == nil && r.value == 1 && at == 0 && count == n {
			return nil, n, nil
		}
		if present == nil {
			present = make([]bool, n)
		}
		part := present[at:][:count]
		switch {
		case r.packed != nil:
			for i := range part {
				part[i] = r.packed[i/8]>>(i%8)&1 == 1
				if part[i] {
					found++
				}
			}
		case r.value == 1:
			for i := range part {
				part[i] = true
			}
			found += count
		}
		at, src = at+count, rest
	}
	if found == n {
		return nil, n, nil
	}
	return present, found, nil
}

// Deltas reads n numbers as differences, packed in blocks of blocks, and returns what
// follows them.
func Deltas(src []byte, n int) (values []int64, rest []byte, err error) {
	var head [3]uint64 // values of a block, parts of a block, number of values
	for i := range head {
		v, used := binary.Uvarint(src)
		if used <= 0 {
			return nil, nil, ErrShort
		}
		head[i], src = v, src[used:]
	}
	value, used := binary.Varint(src)
	if used <= 0 {
		return nil, nil, ErrShort
	}
	src = src[used:]
	const largest = 1 << 20
	if head[0] == 0 || head[0] > largest || head[1] == 0 || head[1] > head[0] || head[0]%head[1] != 0 || head[0]/head[1]%8 != 0 {
		return nil, nil, fmt.Errorf("blocks of %d values in %d parts", head[0], head[1])
	}
	if head[2] != uint64(n) {
		return nil, nil, fmt.Errorf("%d values instead of %d", head[2], n)
	}
	if n == 0 {
		return []int64{}, src, nil
	}
	parts, perPart := int(head[1]), int(head[0]/head[1])
	if (n-1)/int(head[0]) > len(src)/2 { // a block has at least two bytes
		return nil, nil, ErrShort
	}
	values = make([]int64, n)
	values[0] = value
	for at := 1; at < n; {
		least, used := binary.Varint(src)
		if used <= 0 || len(src) < used+parts {
			return nil, nil, ErrShort
		}
		widths := src[used:][:parts]
		src = src[used+parts:]
		for _, width := range widths {
			if at == n {
				break
			}
			count := min(perPart, n-at)
			if width > 64 || (count*int(width)+7)/8 > len(src) {
				return nil, nil, ErrShort
			}
			for i := range count {
				value += least + int64(bitsAt(src, i*int(width), uint(width)))
				values[at+i] = value
			}
			at += count
			src = src[min(len(src), perPart*int(width)/8):]
		}
	}
	return values, src, nil
}

// bitsAt returns the width bits of src that start at a bit.
func bitsAt(src []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	from, shift := bit/8, uint(bit%8)
	var word uint64
	var ninth byte
	if from+9 <= len(src) {
		word, ninth = binary.LittleEndian.Uint64(src[from:]), src[from+8]
	} else {
		var room [9]byte
		copy(room[:], src[from:])
		word, ninth = binary.LittleEndian.Uint64(room[:]), room[8]
	}
	word >>= shift
	if shift > 0 {
		word |= uint64(ninth) << (64 - shift)
	}
	return word & (^uint64(0) >> (64 - width))
}
