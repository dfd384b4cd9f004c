//go:build !linux

package tableio

func hugePages[T any]([]T) {}
