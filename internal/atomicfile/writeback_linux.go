package atomicfile

import (
	"os"
	"syscall"
)

// startWriteback starts to store bytes of a file on the disk and does not wait. An error does no
// harm: the file is synced at the end.
func startWriteback(f *os.File, from, n int64) {
	const write = 2 // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), from, n, write)
}
