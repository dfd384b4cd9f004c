package delimited

import "math/bits"

const (
	everyByte = 0x0101010101010101
	asciiZero = '0' * everyByte
)

// parseDigits reads a word of 1 to 8 digits, the first in the lowest byte and zeros
// above the last, as a decimal integer: pairs, then fours, then all eight digits at
// once. The word 0 is not a number.
func parseDigits(word uint64) (uint32, bool) {
	v := (word ^ asciiZero) << (uint(bits.LeadingZeros64(word)) & 56) // one digit per byte, zeros before
	if ((v+0x76*everyByte)|v)&(0x80*everyByte) != 0 || word == 0 {
		return 0, false
	}
	v = v*10 + v>>8
	const evenPairs = 0x000000ff000000ff
	v = ((v&evenPairs)*(100+1000000<<32) + (v>>16&evenPairs)*(1+10000<<32)) >> 32
	return uint32(v), true
}

// parseIntegers reads words[i], words[i+1], ... until one is not an integer. It returns
// the index of that word, or len(words).
func parseIntegers(dst []float32, words []uint64, i int) int {
	dst = dst[:len(words)]
	for ; i < len(words); i++ {
		v, ok := parseDigits(words[i])
		if !ok {
			return i
		}
		dst[i] = float32(v)
	}
	return i
}
