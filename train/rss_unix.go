//go:build unix

package train

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakRSS returns the most memory the process has held, in bytes.
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
