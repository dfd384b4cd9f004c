//go:build !linux

package parallel

import "runtime"

// yield lets another goroutine run.
func yield() { runtime.Gosched() }
