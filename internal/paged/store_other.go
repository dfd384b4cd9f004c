//go:build !linux

package paged

import "errors"

func advise(_, _ uintptr) {}

func populate(_, _ uintptr) {}

// Supported says whether this system has stores.
const Supported = false

// A Store is a temporary file of arrays.
type Store struct{ folder string }

// Open fails: this system has no stores.
func Open(folder string, _, _ int64) (*Store, error) {
	return nil, &Error{Folder: folder, cause: errors.ErrUnsupported}
}

// Reserve returns nil: arrays are in memory.
func Reserve() *Store { return nil }

func (s *Store) region(size int) []byte { return make([]byte, size) }
func (s *Store) keep(size int) []byte   { return make([]byte, size) }
func (s *Store) free(uintptr)           {}
func (s *Store) contains(uintptr) bool  { return false }

// Size returns 0.
func (s *Store) Size() int64 { return 0 }

// Close does nothing.
func (s *Store) Close() error { return nil }
