//go:build !linux

package cpu

import "testing"

// chainMemory is memory whose slices end at its end.
type chainMemory struct{ floats []float32 }

func newChainMemory(_ testing.TB, floats int) *chainMemory {
	return &chainMemory{make([]float32, floats)}
}
