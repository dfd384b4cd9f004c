package radix

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// sharedFrom is the number of keys from which processes share the work.
const sharedFrom = 1 << 14

// SortOver is Sort by the processes of a group, which have the same values; nil for one process. Each sorts those of a
// range.
func SortOver(group peers.Group, threads int, values []float64) {
	if group == nil || len(values) < sharedFrom || slices.ContainsFunc(values, math.IsNaN) {
		Sort(threads, values)
		return
	}
	keys := floatKeys(threads, values)
	rows, bounds := ownRange(group, keys)
	own := make([]float64, len(rows))
	for i, row := range rows {
		own[i] = values[row]
	}
	Sort(threads, own)
	copy(values[bounds[group.Rank()]:], own)
	peers.Values(group, values, bounds, 1)
}

// OrderOver is Order by the processes of a group, which have the same keys; nil for one process. Each orders those of
// a range.
func OrderOver(group peers.Group, threads int, keys []uint64) (order []int32) {
	if group == nil || len(keys) < sharedFrom {
		order, _ = Order(threads, keys)
		return order
	}
	rows, bounds := ownRange(group, keys)
	own := make([]uint64, len(rows))
	for i, row := range rows {
		own[i] = keys[row]
	}
	among, _ := Order(threads, own)
	order = make([]int32, len(keys))
	for i, at := range among {
		order[bounds[group.Rank()]+i] = rows[at]
	}
	peers.Values(group, order, bounds, 1)
	return order
}

// sampledKeys is the number of keys per process from which the ranges are chosen.
const sampledKeys = 256

// ownRange returns the numbers of the keys in the range of this process, and where the keys of each process start in
// the order of all. Equal keys are in one range.
func ownRange(group peers.Group, keys []uint64) (rows []int32, bounds []int) {
	size, rank := group.Size(), group.Rank()
	sample := make([]uint64, size*sampledKeys)
	for i := range sample {
		sample[i] = keys[i*len(keys)/len(sample)]
	}
	slices.Sort(sample)
	low, high := uint64(0), uint64(math.MaxUint64)
	if rank > 0 {
		low = sample[rank*sampledKeys]
	}
	last := rank == size-1
	if !last {
		high = sample[(rank+1)*sampledKeys]
	}
	rows = make([]int32, 0, len(keys)/size*5/4)
	for i, k := range keys {
		if k >= low && (k < high || last) {
			rows = append(rows, int32(i))
		}
	}
	bounds = make([]int, size+1)
	for r, n := range peers.Each(group, int64(len(rows))) {
		bounds[r+1] = bounds[r] + int(n)
	}
	return rows, bounds
}
