// Package radix orders rows by integer keys.
package radix

import (
	"math"
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// maxDigit is the number of bits by which one pass sorts: its counters stay in the
// first-level cache.
const maxDigit = 11

// Order returns the sorted keys and the numbers of the keys in that order; equal keys keep
// their order. It costs O(n) per 11 bits in which the keys differ. The result does not
// depend on the number of threads. There may be 2^31-1 keys.
func Order(threads int, keys []uint64) (order []int32, sorted []uint64) {
	order, sorted, _ = OrderIn(nil, threads, keys)
	return order, sorted
}

// OrderIn is [Order] with its 24 bytes per key in a store, to which free gives them back.
func OrderIn(pages *paged.Store, threads int, keys []uint64) (order []int32, sorted []uint64, free func()) {
	n := len(keys)
	order = paged.Make[int32](pages, n)
	type piece struct {
		varying  uint64
		unsorted bool
	}
	all := parallel.Reduce(threads, n, func(from, to int) (p piece) {
		for i := from; i < to; i++ {
			order[i] = int32(i)
			p.varying |= keys[i] ^ keys[0]
			p.unsorted = p.unsorted || i > 0 && keys[i-1] > keys[i]
		}
		return p
	}, func(a, b piece) piece { return piece{a.varying | b.varying, a.unsorted || b.unsorted} })
	if !all.unsorted {
		return order, keys, func() { paged.Free(pages, order) }
	}
	varying := all.varying
	low := bits.TrailingZeros64(varying)
	length := bits.Len64(varying) - low
	passes := (length + maxDigit - 1) / maxDigit
	digit := (length + passes - 1) / passes
	s := sorter{threads: threads, pieces: 1, mask: 1<<digit - 1}
	if threads > 1 {
		s.pieces = max(1, min(4*threads, n/parallel.Block))
	}
	s.counts = make([]int32, s.pieces<<digit)
	toOrder, memory := paged.Make[int32](pages, n), paged.Make[uint64](pages, 2*n)
	toKeys, spare := memory[:n], memory[n:]
	for p := range passes {
		s.pass(toKeys, keys, toOrder, order, uint(low+p*digit))
		if p == 0 {
			keys = spare // those of the caller do not change
		}
		keys, toKeys = toKeys, keys
		order, toOrder = toOrder, order
	}
	return order, keys, func() {
		paged.Free(pages, order)
		paged.Free(pages, toOrder)
		paged.Free(pages, memory)
	}
}

// Float returns a key with the order of finite numbers, of which -0 is less than 0.
func Float(v float64) uint64 {
	key := math.Float64bits(v)
	if key>>63 != 0 {
		return ^key
	}
	return key | 1<<63
}

// sortFrom is the number of values from which radix sort is faster than comparisons.
const sortFrom = 1 << 11

// Sort sorts numbers in increasing order, NaN first.
func Sort(threads int, values []float64) {
	if len(values) < sortFrom || slices.ContainsFunc(values, math.IsNaN) {
		slices.Sort(values)
		return
	}
	_, keys := Order(threads, floatKeys(threads, values))
	parallel.Blocks(threads, len(values), func(from, to int) {
		for i, key := range keys[from:to] {
			if key>>63 != 0 {
				key ^= 1 << 63
			} else {
				key = ^key
			}
			values[from+i] = math.Float64frombits(key)
		}
	})
}

// floatKeys returns the keys of numbers.
func floatKeys(threads int, values []float64) []uint64 {
	keys := make([]uint64, len(values))
	parallel.Blocks(threads, len(values), func(from, to int) {
		for i := from; i < to; i++ {
			keys[i] = Float(values[i])
		}
	})
	return keys
}

type sorter struct {
	threads, pieces int
	mask            uint64
	counts          []int32 // by piece and digit
}

// pass writes keys and order to the places that the digit from the given bit on gives them.
func (s *sorter) pass(toKeys, keys []uint64, toOrder, order []int32, shift uint) {
	n, values := len(keys), int(s.mask)+1
	piece := func(i int) (counts []int32, from, to int) {
		return s.counts[i*values:][:values], n * i / s.pieces, n * (i + 1) / s.pieces
	}
	parallel.For(s.threads, s.pieces, func(i int) {
		counts, from, to := piece(i)
		clear(counts)
		for _, k := range keys[from:to] {
			counts[k>>(shift&63)&s.mask]++
		}
	})
	next := make([]int32, values) // by digit; counts are read in their order, because those of a digit share sets of the cache
	for at, n := range s.counts {
		next[at&int(s.mask)] += n
	}
	sum := int32(0)
	for v, n := range next {
		next[v], sum = sum, sum+n
	}
	for at, n := range s.counts {
		v := at & int(s.mask)
		s.counts[at], next[v] = next[v], next[v]+n
	}
	parallel.For(s.threads, s.pieces, func(i int) {
		next, from, to := piece(i)
		for j, k := range keys[from:to] {
			at := &next[k>>(shift&63)&s.mask]
			toKeys[*at], toOrder[*at] = k, order[from+j]
			*at++
		}
	})
}
