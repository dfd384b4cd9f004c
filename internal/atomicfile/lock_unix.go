//go:build unix && !solaris && !illumos && !aix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// canRenameOpen says that a file may be renamed while open, so that its lock
// holds until then.
const canRenameOpen = true

func lock(f *os.File) lockState {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return locked
	case errors.Is(err, syscall.EWOULDBLOCK):
		return lockedByOther
	}
	return noLocks
}

// syncFolder makes a rename in the folder outlast a crash. A file system that
// cannot sync folders says so; it needs no sync or knows none.
func syncFolder(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
