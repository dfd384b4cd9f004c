//go:build !native || !linux

package mpi

import "fmt"

// Native reports whether the program can load a library of MPI.
const Native = false

// World is the set of all ranks of a job. Programs without the tag native have none.
type World struct{}

// Start returns an error: this program cannot load a library of MPI.
func Start(getenv func(string) string) (*World, error) {
	return nil, fmt.Errorf("%w: this program is built without MPI; use kft-native, which `make native` builds", ErrNoLibrary)
}

func (*World) none() { panic("mpi: there is no world without MPI") }

// The methods of World, which cannot be called, because there is none.

func (w *World) Library() string                  { w.none(); return "" }
func (w *World) Rank() int                        { w.none(); return 0 }
func (w *World) Size() int                        { w.none(); return 1 }
func (w *World) Barrier()                         { w.none() }
func (w *World) Broadcast(data []byte, root int)  { w.none() }
func (w *World) Gather(data []byte, bounds []int) { w.none() }
func (w *World) Send(data []byte, to int)         { w.none() }
func (w *World) Receive(data []byte, from int)    { w.none() }
func (w *World) Exchange(s, r []byte, a, b []int) { w.none() }
func (w *World) Max(values []int64)               { w.none() }
func (w *World) Yield(yes bool)                   { w.none() }
func (w *World) Abort(code int)                   { w.none() }
func (w *World) Finalize()                        { w.none() }
