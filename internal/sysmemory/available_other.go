//go:build !linux && !darwin

package sysmemory

// Available returns Unknown, because this platform is not asked.
func Available() int64 { return Unknown }

// Room returns Unknown, too.
func Room() int64 { return Unknown }
