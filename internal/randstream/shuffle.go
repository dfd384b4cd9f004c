package randstream

import (
	"math/rand/v2"
	"runtime"
)

// Shuffle is the method of the same name for an array that is larger than a cache. It draws the places of several
// swaps and reads them before it swaps, so that the accesses to memory overlap. If first is above 0, it ends when
// the values from first on are in their places. Those before are then the values that Shuffle leaves there, in
// another order.
func Shuffle[T ~uint8 | ~int32](r *rand.Rand, values []T, first int) {
	var places [256]uint64
	touched := T(0)
	first = max(first, 1)
	for i := len(values) - 1; i >= first; {
		some := places[:min(i-first+1, len(places))]
		for k := range some {
			some[k] = r.Uint64N(uint64(i - k + 1))
		}
		for _, j := range some {
			touched |= values[j]
		}
		for _, j := range some {
			values[i], values[j] = values[j], values[i]
			i--
		}
	}
	runtime.KeepAlive(touched)
}
