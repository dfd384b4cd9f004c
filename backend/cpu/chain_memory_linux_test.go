package cpu

import (
	"syscall"
	"testing"
	"unsafe"
)

// chainMemory is memory that ends at an inaccessible page: a kernel that reads
// or writes past the end of a slice of it crashes the test.
type chainMemory struct{ floats []float32 }

func newChainMemory(t testing.TB, floats int) *chainMemory {
	t.Helper()
	page := syscall.Getpagesize()
	size := (4*floats + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(mem[size:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return &chainMemory{unsafe.Slice((*float32)(unsafe.Pointer(&mem[0])), size/4)}
}
