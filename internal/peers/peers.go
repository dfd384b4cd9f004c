// Package peers passes values between processes that run the same program on the same data.
package peers

import "unsafe"

// A Group is a set of processes. All of them call its methods in the same order.
type Group interface {
	Rank() int // of this process, from 0
	Size() int // number of processes

	// Gather completes data on all processes: process r has the bytes bounds[r]..bounds[r+1].
	Gather(data []byte, bounds []int)
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

// Sum returns the sums of the values of all processes, which have as many each. The values are whole numbers, of which any order has the same
// sum.
func Sum[T ~int32 | ~int64 | ~float64](group Group, own []T) []T {
	n, size := len(own), group.Size()
	all := make([]T, n*size)
	copy(all[n*group.Rank():], own)
	Values(group, all, Even(size, size), n)
	sums := all[:n:n]
	for r := 1; r < size; r++ {
		for i, v := range all[n*r:][:n] {
			sums[i] += v
		}
	}
	return sums
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
