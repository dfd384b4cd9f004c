//go:build !native || !linux

package mpi

import (
	"fmt"
	"os"
	"time"
)

// Native reports whether the program can load a library of MPI.
const Native = false

// World is the set of all ranks of a job. Programs without the tag native have none.
type World struct{}

// Start returns an error: this program cannot load a library of MPI.
func Start(getenv func(string) string) (*World, error) {
	return nil, fmt.Errorf("%w: this program is built without MPI; use kft-native, which `make native` builds", ErrNoLibrary)
}

// The methods of World are those of a process that is alone; Start returns none.

func (w *World) Library() string                  { return "no library" }
func (w *World) Rank() int                        { return 0 }
func (w *World) Size() int                        { return 1 }
func (w *World) Barrier()                         {}
func (w *World) Broadcast(data []byte, root int)  {}
func (w *World) Gather(data []byte, bounds []int) {}
func (w *World) Send(data []byte, to int)         {}
func (w *World) Receive(data []byte, from int)    {}
func (w *World) Exchange(s, r []byte, a, b []int) { copy(r, s) }
func (w *World) CPUTime() (a, b time.Duration)    { return 0, 0 }
func (w *World) Max(values []int64)               {}
func (w *World) Yield(yes bool)                   {}
func (w *World) Abort(code int)                   { os.Exit(code) }
func (w *World) Finalize()                        {}

func affinity() cpuSet { return cpuSet{} }
