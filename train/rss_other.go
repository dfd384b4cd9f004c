//go:build !unix

package train

// peakRSS returns 0, because this platform does not report it.
func peakRSS() int64 { return 0 }
