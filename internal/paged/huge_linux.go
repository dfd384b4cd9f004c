package paged

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Huge asks for pages of 2 MB under a large slice that was not touched yet. The
// first access then causes one page fault instead of 512. The request may fail.
func Huge[T any](s []T) {
	const page = 2 << 20
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), cap(s)*int(unsafe.Sizeof(*new(T))))
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page)
	if whole := (len(memory) - skip) / page * page; whole > 0 {
		_ = unix.Madvise(memory[skip:skip+whole], unix.MADV_HUGEPAGE)
	}
}
