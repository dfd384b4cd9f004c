//go:build unix && !solaris && !illumos && !aix

package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockFolder locks the folder of the given file for this process. The system
// releases the lock when the process ends, also if it is killed.
func lockFolder(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s: another process is running an experiment in this folder; wait until it ends, or stop it", filepath.Dir(file))
	}
	// Any other error means that the file system has no locks. Go on without one.
	return func() { f.Close() }, nil
}
