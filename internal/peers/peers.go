// Package peers passes values between processes that run the same program on the same data.
package peers

import (
	"unsafe"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A Group is a set of processes. All of them call its methods in the same order.
type Group interface {
	Rank() int // of this process, from 0
	Size() int // number of processes

	// Gather completes data on all processes: process r has the bytes bounds[r]..bounds[r+1].
	Gather(data []byte, bounds []int)

	// Exchange sends send[sent[r]:sent[r+1]] to each process r and receives
	// received[taken[r]:taken[r+1]] from it.
	Exchange(send, received []byte, sent, taken []int)
}

// Even cuts n things into one run per process, of about equal length: run r is
// bounds[r]..bounds[r+1].
func Even(n, size int) (bounds []int) {
	bounds = make([]int, size+1)
	for r := range bounds {
		bounds[r] = int(int64(n) * int64(r) / int64(size))
	}
	return bounds
}

// Rows cuts n rows into one run of whole blocks, see package parallel, per process: process r has
// those from bounds[r] to bounds[r+1]. Where a process has only some rows, it has those of its run.
func Rows(n, size int) (bounds []int) {
	bounds = Even((n+parallel.Block-1)/parallel.Block, size)
	for r, block := range bounds {
		bounds[r] = min(n, block*parallel.Block)
	}
	return bounds
}

// Bytes returns the memory of values, which have no pointers, without a copy.
func Bytes[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// Values completes values, which have no pointers, on all processes: process r has
// values[bounds[r]*length : bounds[r+1]*length].
func Values[T any](group Group, values []T, bounds []int, length int) {
	if len(values) == 0 {
		return
	}
	size := length * int(unsafe.Sizeof(values[0]))
	inBytes := make([]int, len(bounds))
	for r, b := range bounds {
		inBytes[r] = b * size
	}
	group.Gather(Bytes(values), inBytes)
}

// Taken returns where what each process sends to this one starts, given where what this one sends to each starts.
func Taken(group Group, sent []int) (taken []int) {
	size := group.Size()
	counts := make([]int64, size*size) // by sender and receiver
	for r := range size {
		counts[group.Rank()*size+r] = int64(sent[r+1] - sent[r])
	}
	Values(group, counts, Even(size, size), size)
	taken = make([]int, size+1)
	for r := range size {
		taken[r+1] = taken[r] + int(counts[r*size+group.Rank()])
	}
	return taken
}

// Pass sends values[sent[r]:sent[r+1]], which have no pointers, to each process r and receives
// dst[taken[r]:taken[r+1]] from it.
func Pass[T any](group Group, dst, values []T, sent, taken []int) {
	size := int(unsafe.Sizeof(*new(T)))
	inBytes := func(n []int) []int {
		out := make([]int, len(n))
		for i, v := range n {
			out[i] = size * v
		}
		return out
	}
	group.Exchange(Bytes(values), Bytes(dst), inBytes(sent), inBytes(taken))
}

// Move sends values, of which process r has the run held[r] to held[r+1] of all, to the processes
// that have them afterwards, given by final. dst is the final run of this process.
func Move[T any](group Group, dst, values []T, held, final []int) {
	me := group.Rank()
	sent, taken := make([]int, len(held)), make([]int, len(held))
	for r := range held {
		sent[r] = min(max(final[r], held[me]), held[me+1]) - held[me]
		taken[r] = min(max(held[r], final[me]), final[me+1]) - final[me]
	}
	Pass(group, dst, values, sent, taken)
}

// Concat returns the values that the processes have, which have no pointers, in the order of the processes.
func Concat[T any](group Group, own []T) []T {
	bounds := make([]int, group.Size()+1)
	for r, n := range Each(group, int64(len(own))) {
		bounds[r+1] = bounds[r] + int(n)
	}
	all := make([]T, bounds[group.Size()])
	copy(all[bounds[group.Rank()]:], own)
	Values(group, all, bounds, 1)
	return all
}

// From copies the values of one process, which have no pointers, to all others.
func From[T any](group Group, values []T, process int) {
	bounds := make([]int, group.Size()+1)
	for r := process + 1; r < len(bounds); r++ {
		bounds[r] = len(values)
	}
	Values(group, values, bounds, 1)
}

// Each returns the values of all processes, one of each, which have no pointers.
func Each[T any](group Group, own T) []T {
	all := make([]T, group.Size())
	all[group.Rank()] = own
	Values(group, all, Even(len(all), len(all)), 1)
	return all
}

// Sum returns the sums of the values of all processes, which have as many each. The values are
// whole numbers, of which any order has the same sum. Each process adds a run of them, so that it
// receives twice as many values as there are sums.
func Sum[T ~int32 | ~int64 | ~float64](group Group, own []T) []T {
	sums := make([]T, len(own))
	bounds := Even(len(own), group.Size())
	combined := sums[bounds[group.Rank()]:bounds[group.Rank()+1]]
	for _, values := range Runs(group, own, bounds) {
		for i, v := range values {
			combined[i] += v
		}
	}
	Values(group, sums, bounds, 1)
	return sums
}

// Runs returns the values [bounds[r], bounds[r+1]) of each process, where r is this one. All have
// as many values, without pointers.
func Runs[T any](group Group, own []T, bounds []int) [][]T {
	n, size := bounds[group.Rank()+1]-bounds[group.Rank()], group.Size()
	taken, runs := make([]int, size+1), make([][]T, size)
	received := make([]T, n*size)
	for r := range size {
		taken[r+1], runs[r] = n*(r+1), received[n*r:][:n]
	}
	Pass(group, received, own, bounds, taken)
	return runs
}

// Texts returns the texts of all processes.
func Texts(group Group, own []byte) [][]byte {
	bounds := make([]int, group.Size()+1)
	for r, n := range Each(group, int64(len(own))) {
		bounds[r+1] = bounds[r] + int(n)
	}
	all := make([]byte, bounds[group.Size()])
	copy(all[bounds[group.Rank()]:], own)
	Values(group, all, bounds, 1)
	texts := make([][]byte, group.Size())
	for r := range texts {
		texts[r] = all[bounds[r]:bounds[r+1]]
	}
	return texts
}
