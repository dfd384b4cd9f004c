package atomicfile

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld is the error of [Hold] for a file that another process holds.
var ErrHeld = errors.New("another process uses it")

// Hold creates the file at path and locks it, so that one process at a time works on
// what the file stands for. It returns an error that wraps ErrHeld if another process
// holds it. The lock ends with the call of release, which removes the file, and with the
// process. On systems without locks Hold always succeeds.
func Hold(path string) (release func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if lock(f) == lockedByOther {
			f.Close()
			return nil, fmt.Errorf("%s: %w", path, ErrHeld)
		}
		if !stillThere(f) { // the holder before removed it
			f.Close()
			continue
		}
		return func() {
			if !canRenameOpen {
				f.Close()
			}
			os.Remove(path)
			f.Close()
		}, nil
	}
}
