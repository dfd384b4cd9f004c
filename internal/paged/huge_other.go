//go:build !linux

package paged

// Huge does nothing.
func Huge[T any]([]T) {}
