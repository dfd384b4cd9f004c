//go:build unix && !solaris && !illumos && !aix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// canRenameOpen reports that an open file can be renamed, so that its lock is held
// until then.
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

// syncFolder makes a rename in the folder durable. Errors of file systems that do
// not support syncing folders are ignored.
func syncFolder(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
