// Package paged keeps arrays of the length of the data in a temporary file that is mapped
// into memory. The arrays are used like any others. The system writes their pages to the
// file and reads them ahead, and a [Store] takes pages out of the memory of the process
// when it exceeds a limit, so that a program may work on arrays larger than its memory. The
// values, and so all results, are those of arrays in memory.
//
// A page that is in the memory of the system costs less than a microsecond to take back, one
// that has to be read from the disk what the disk takes. The file has no name, so it is gone
// when the process ends, however it ends.
package paged

import (
	"fmt"
	"unsafe"
)

// Number is the type of the elements of an array.
type Number interface {
	~uint8 | ~int32 | ~int64 | ~int | ~uint64 | ~float32 | ~float64
}

// Smallest is the size in bytes from which an array is in the file.
const Smallest = 1 << 20

// Make returns an array of zeros in a store, which must not be used after the store is
// closed. Small arrays, and all arrays of a nil store, are in memory. It panics with an
// error that [Store.Recover] recognises if there is no room on the disk.
func Make[T Number](s *Store, n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if s == nil || n < Smallest/size {
		array := make([]T, n)
		Huge(array)
		return array
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.region(n*size)))), n)
}

// Keep is like [Make] for an array that stays in memory, whatever the limit of the store: all threads write to
// it at any place, so that its pages would come back faster than they are taken out. In a store it takes no memory before
// it is written to, and gives it back when it is freed, without a collection of garbage.
func Keep[T Number](s *Store, n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if s == nil || n < Smallest/size {
		return Make[T](nil, n)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.keep(n*size)))), n)
}

// hugePage is the size of a large page of the system.
const hugePage = 2 << 20

// Huge asks the system for large pages under an array in memory that was not used yet, if it has the
// size of two of them: one page fault instead of 512, and fewer accesses at random that have to look
// up a page first. The request may fail.
func Huge[T any](array []T) {
	if size := cap(array) * int(unsafe.Sizeof(*new(T))); size >= 2*hugePage {
		advise(uintptr(unsafe.Pointer(unsafe.SliceData(array))), uintptr(size))
	}
}

// Populate asks the system for the memory of a part of an array that several goroutines are about
// to write for the first time. Without it each of them clears a large page, of which the system
// keeps one. The request may fail.
func Populate[T any](part []T) {
	if size := len(part) * int(unsafe.Sizeof(*new(T))); size > 0 {
		populate(uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(size))
	}
}

// Free gives back an array that Make or Keep returned, if it is in the store.
func Free[T Number](s *Store, array []T) {
	if s != nil && len(array) > 0 {
		s.free(uintptr(unsafe.Pointer(unsafe.SliceData(array))))
	}
}

// An Error reports a failure of the disk.
type Error struct {
	Folder       string
	Need, Free   int64 // bytes asked for and available, if the disk is full
	Stored       int64 // bytes in the file
	cause        error
	inconsistent bool // a page could not be read or written
}

func (e *Error) Error() string {
	const mib = 1 << 20
	if e.inconsistent {
		return fmt.Sprintf("the disk of the folder %s failed: a page of the %d MiB that the fit keeps there could not be read or written; choose a folder on another disk, or allow more memory", e.Folder, e.Stored/mib)
	}
	if e.Free < e.Need {
		return fmt.Sprintf("the folder %s has no room for pages of the data: %d MiB are needed and %d MiB are free; choose a folder on a larger disk, or allow more memory", e.Folder, (e.Need+mib-1)/mib, e.Free/mib)
	}
	there := ""
	if e.Stored >= mib {
		there = fmt.Sprintf(", %d MiB of which are there", e.Stored/mib)
	}
	return fmt.Sprintf("the folder %s cannot keep pages of the data%s: %v; choose another folder, or allow more memory", e.Folder, there, e.cause)
}

func (e *Error) Unwrap() error { return e.cause }

// Recover is deferred by a function that uses arrays of a store. It turns a panic because
// of the disk into an error, and leaves other panics as they are. Panics arise at any
// access to an array, in goroutines that [parallel] passes them on from.
//
// The function must call debug.SetPanicOnFault before.
func (s *Store) Recover(err *error) {
	if s != nil {
		s.Recovered(recover(), err)
	}
}

// Recovered is Recover for a function that has recovered a panic, or nil, itself: because it did not know the store when it began.
func (s *Store) Recovered(cause any, err *error) {
	switch cause := cause.(type) {
	case nil:
	case *Error:
		*err = cause
	case interface{ Addr() uintptr }:
		if !s.contains(cause.Addr()) {
			panic(cause)
		}
		*err = &Error{Folder: s.folder, Stored: s.Size(), inconsistent: true}
	default:
		panic(cause)
	}
}
