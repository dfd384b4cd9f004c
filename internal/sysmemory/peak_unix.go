//go:build unix

package sysmemory

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Peak returns the peak resident memory of the process in bytes, 0 if it is unknown.
func Peak() int64 {
	// The usage of a process on Linux contains the peak of the process that started it, which it
	// was a copy of; its status does not.
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if peak, found := kibibytes(text, "VmHWM"); found {
			return peak
		}
	}
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
