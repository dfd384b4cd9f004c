// Package scratch reuses memory from one piece of work to the next.
package scratch

// Sized returns a slice of length n: s itself if its capacity suffices. The content
// is undefined.
func Sized[T any](s []T, n int) []T {
	if cap(s) < n {
		grown := make([]T, n+n/8)
		copy(grown, s[:cap(s)]) // slices of slices keep the memory of their elements
		return grown[:n]
	}
	return s[:n]
}
