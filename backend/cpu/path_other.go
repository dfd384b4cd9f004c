//go:build !amd64

package cpu

func nativePaths() []Path { return nil }
