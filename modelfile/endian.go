package modelfile

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian says that values lie in memory as they do in the file, so that
// bytesOf may stand for encodeValues and decodeValues, which cost as much as
// the checksum.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf is the memory of the values, shared with them.
func bytesOf[T Element](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// encodeValues puts the values into dst, which must have room, on a machine of
// any byte order, and returns the number of bytes.
func encodeValues[T Element](dst []byte, values []T) int {
	n, err := binary.Encode(dst, binary.LittleEndian, values)
	if err != nil {
		panic("modelfile: " + err.Error())
	}
	return n
}

// decodeValues is the inverse of encodeValues.
func decodeValues[T Element](dst []T, data []byte) {
	if _, err := binary.Decode(data, binary.LittleEndian, dst); err != nil {
		panic("modelfile: " + err.Error())
	}
}
