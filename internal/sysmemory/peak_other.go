//go:build !unix

package sysmemory

// Peak returns 0, because this platform does not report it.
func Peak() int64 { return 0 }
