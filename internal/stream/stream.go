// Package stream gives one seeded source of random numbers a purpose, so that
// what one part of a run draws never shifts what another part draws.
package stream

import (
	"hash/fnv"
	"math/rand/v2"
)

// New returns the source for a purpose. Parts tell apart several sources of one
// purpose: an epoch, a term.
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
