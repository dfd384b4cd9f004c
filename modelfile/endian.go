package modelfile

import (
	"encoding/binary"
	"unsafe"
)

// littleEndian reports whether values have the same byte order in memory and in
// the file. If so, bytesOf replaces encodeValues and decodeValues, which cost as
// much as the checksum.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of the values, without copying.
func bytesOf[T Element](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// encodeValues writes the values to dst, which must be large enough, for any byte
// order of the machine, and returns the number of bytes.
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
