//go:build unix

package sysmemory

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Peak returns the peak resident memory of the process in bytes, 0 if it is unknown.
func Peak() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
