package delimited

import (
	"encoding/binary"
	"math/bits"
)

// separatorsGeneric writes the positions of all delimiters and newlines to dst. It
// returns their number and the number of newlines. The text is followed by padding;
// dst has room for one position per byte, plus padding.
//
// Eight bytes are compared at a time: a byte of x = word ^ pattern is zero if it
// matches, and ((x & 7f) + 7f) | x has a clear high bit only in zero bytes. Four
// positions are always written, because an unpredictable branch would cost more.
func separatorsGeneric(dst []uint32, text []byte, delimiter byte) (n, newlines int) {
	const (
		low7  = 0x7f * everyByte
		lines = '\n' * everyByte
	)
	delimiters := uint64(delimiter) * everyByte
	padded := text[:(len(text)+7)&^7]
	for i := 0; i+8 <= len(padded); i += 8 {
		word := binary.LittleEndian.Uint64(padded[i:])
		x, y := word^delimiters, word^lines
		x = (x&low7 + low7) | x
		y = (y&low7 + low7) | y
		found := ^(x & y) & (0x80 * everyByte)
		out := dst[n : n+8 : n+8]
		at := uint32(i)
		rest := found
		out[0] = at + uint32(bits.TrailingZeros64(rest))>>3
		rest &= rest - 1
		out[1] = at + uint32(bits.TrailingZeros64(rest))>>3
		rest &= rest - 1
		out[2] = at + uint32(bits.TrailingZeros64(rest))>>3
		rest &= rest - 1
		out[3] = at + uint32(bits.TrailingZeros64(rest))>>3
		rest &= rest - 1
		for k := 4; rest != 0; k++ {
			out[k&7] = at + uint32(bits.TrailingZeros64(rest))>>3
			rest &= rest - 1
		}
		n += int((found >> 7) * everyByte >> 56)
		newlines += int((^y >> 7 & everyByte) * everyByte >> 56)
	}
	return n, newlines
}

// fieldWordsGeneric loads, for each row i in keep, the text between the separators
// i*columns+from and i*columns+to as a little-endian word, without the last cut bytes.
// The rows ascend. The word is 0 if the text is not 1 to 8 bytes long, starts or ends
// with white space, or is not followed by the byte behind. The text is followed by
// padding.
func fieldWordsGeneric(dst []uint64, text []byte, ends []uint32, keep []int32, columns, from, to int, cut uint32, behind byte) {
	for i, row := range keep {
		k := int(row) * columns
		start, end := ends[k+from]+1, ends[k+to]-cut
		bits := 8 * uint(end-start)
		dst[i] = 0
		if bits-8 > 56 || text[end] != behind {
			continue
		}
		word := binary.LittleEndian.Uint64(text[start:]) & (^uint64(0) >> ((64 - bits) & 63))
		if byte(word) > ' ' && word>>((bits-8)&63) > ' ' {
			dst[i] = word
		}
	}
}
