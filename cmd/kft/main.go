// Command kft fits tensor trains to tables and predicts with them.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/internal/garbage"
)

func main() {
	if os.Getenv("GOGC") == "" {
		garbage.Bound()
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(footprint.Machine()-programBytes, programBytes)) // garbage is collected before the machine or the container has no memory left
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal ends training; the second one kills the process
	os.Exit(launch(ctx, os.Getenv, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
