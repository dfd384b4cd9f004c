package dataset

import (
	"encoding/binary"
	"math/bits"
)

// fingerprint condenses a chunk's text to 32 bytes at several bytes a cycle, so
// that a table's hash costs next to nothing. It tells changed text from unchanged
// as well as any hash of its length, but is no defence against someone who looks
// for a collision. The result is the same on every machine.
func fingerprint(text []byte) [32]byte {
	lanes := [4]uint64{0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93}
	length := uint64(len(text))
	a, b, c, d := lanes[0]^length, lanes[1], lanes[2], lanes[3]
	for len(text) >= 32 {
		a = stir(a, binary.LittleEndian.Uint64(text))
		b = stir(b, binary.LittleEndian.Uint64(text[8:]))
		c = stir(c, binary.LittleEndian.Uint64(text[16:]))
		d = stir(d, binary.LittleEndian.Uint64(text[24:]))
		text = text[32:]
	}
	var tail [32]byte
	copy(tail[:], text)
	a = stir(a, binary.LittleEndian.Uint64(tail[:]))
	b = stir(b, binary.LittleEndian.Uint64(tail[8:]))
	c = stir(c, binary.LittleEndian.Uint64(tail[16:]))
	d = stir(d, binary.LittleEndian.Uint64(tail[24:]))
	var out [32]byte
	for i, lane := range [4]uint64{a, b, c, d} {
		binary.LittleEndian.PutUint64(out[8*i:], lane)
	}
	return out
}

// stir is a bijection of the state for each word and of the word for each state,
// so that a single changed word always shows.
func stir(state, word uint64) uint64 {
	return bits.RotateLeft64((state^word)*golden, 29)
}
