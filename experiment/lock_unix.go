//go:build unix && !solaris && !illumos && !aix

package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes the folder for this process; the system gives it back when the
// process ends, however it does.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		f.Close()
		return nil, fmt.Errorf("%s: another kft experiment works in this folder; wait for it, or stop it first", filepath.Dir(file))
	}
	// A file system without locks has none to offer: go on.
	return func() { f.Close() }, nil
}
