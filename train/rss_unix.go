//go:build unix

package train

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakRSS returns the peak resident memory of the process in bytes, 0 if it is unknown.
func peakRSS() int64 {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
