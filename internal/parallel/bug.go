package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// A Bug is a panic that no code asked for, in a goroutine of a loop or of another group: it is passed on to the
// caller, who can end what it was doing instead of the program.
type Bug struct {
	Cause any
	Where string // function and line
	Stack []byte // of the goroutine
}

func (b *Bug) Error() string { return fmt.Sprintf("%v (at %s)", b.Cause, b.Where) }

// Caught returns what the caller of a goroutine gets for a value that was recovered there: an error that the
// program made, and the fault of an address, as they are, and a Bug for all else. It is called by the function that
// recovers.
func Caught(cause any) error {
	failed, ok := cause.(error)
	_, bug := cause.(runtime.Error)
	if _, fault := cause.(interface{ Addr() uintptr }); ok && (!bug || fault) {
		return failed
	}
	return &Bug{cause, panicLocation(), debug.Stack()}
}

// panicLocation names the function that panicked.
func panicLocation() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		if panicked && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, line %d", f.Function, f.Line)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown location"
		}
	}
}
