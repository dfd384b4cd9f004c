package sysmemory

import "golang.org/x/sys/unix"

// Available returns the memory of the machine in bytes. The system swaps to files, so
// that what is in use by others does not count.
func Available() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil || bytes == 0 || bytes > uint64(Unknown) {
		return Unknown
	}
	return int64(bytes)
}

// Room returns the same.
func Room() int64 { return Available() }
