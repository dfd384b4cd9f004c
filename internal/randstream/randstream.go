// Package randstream provides one independent stream of random numbers per purpose
// from one seed, so that the draws of one part of a program never affect those of
// another part.
package randstream

import (
	"hash/fnv"
	"math/rand/v2"
)

// New returns the stream of a purpose. Parts distinguish several streams of the same
// purpose, such as epochs or terms.
func New(seed uint64, purpose string, parts ...uint64) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	for _, p := range parts {
		var b [9]byte
		for i := range 8 {
			b[i+1] = byte(p >> (8 * i))
		}
		h.Write(b[:])
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
