// Package fingerprint computes fast, non-cryptographic hashes of data.
package fingerprint

import (
	"encoding/binary"
	"math/bits"
)

// Sum hashes text to 32 bytes, several bytes per cycle, so that the hash of a table
// costs almost nothing. It detects accidental changes as well as any hash of this
// length does. It does not resist deliberate collisions. The result is the same on
// every machine.
func Sum(text []byte) [32]byte {
	lanes := [4]uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93}
	length := uint64(len(text))
	a, b, c, d := lanes[0]^length, lanes[1], lanes[2], lanes[3]
	for len(text) >= 32 {
		a = mix(a, binary.LittleEndian.Uint64(text))
		b = mix(b, binary.LittleEndian.Uint64(text[8:]))
		c = mix(c, binary.LittleEndian.Uint64(text[16:]))
		d = mix(d, binary.LittleEndian.Uint64(text[24:]))
		text = text[32:]
	}
	var tail [32]byte
	copy(tail[:], text)
	a = mix(a, binary.LittleEndian.Uint64(tail[:]))
	b = mix(b, binary.LittleEndian.Uint64(tail[8:]))
	c = mix(c, binary.LittleEndian.Uint64(tail[16:]))
	d = mix(d, binary.LittleEndian.Uint64(tail[24:]))
	var out [32]byte
	for i, lane := range [4]uint64{a, b, c, d} {
		binary.LittleEndian.PutUint64(out[8*i:], lane)
	}
	return out
}

// mix is a bijection of the state for each word and of the word for each state.
// A single changed word therefore always changes the result.
func mix(state, word uint64) uint64 {
	return bits.RotateLeft64((state^word)*0x9e3779b97f4a7c15, 29)
}
