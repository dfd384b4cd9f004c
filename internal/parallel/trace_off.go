//go:build !looptrace || !linux

package parallel

// trace is not part of normal builds; see trace.go.
func trace(int, int, func(worker, i int)) bool { return false }
