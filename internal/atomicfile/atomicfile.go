// Package atomicfile writes files atomically.
//
// A file is written to a temporary file in the same folder, synced, and renamed
// over the old one; the folder is synced last. A reader sees the old file or the new
// one, never a part, also after a crash.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Write replaces the file at path with the output of write, through a buffer. If
// write or anything else fails, the old file is unchanged and no temporary file
// remains. Temporary files of the same target left by killed processes are removed.
//
// Symbolic links are followed. An existing file keeps its permissions. A device or
// a pipe (/dev/stdout) cannot be replaced by a rename and is written directly.
func Write(path string, write func(w io.Writer) error) error {
	target, mode, err := resolve(path)
	if err != nil {
		return err
	}
	if mode != nil && !mode.IsRegular() {
		return writeDirectly(target, write)
	}
	folder, err := os.Open(filepath.Dir(target))
	if err != nil {
		return folderError(path, err)
	}
	defer folder.Close()
	removeLeftovers(target, folder)
	f, err := createBeside(target)
	if err != nil {
		return folderError(path, err)
	}
	renamed := false
	defer func() { // also when write panics
		f.Close()
		if !renamed {
			os.Remove(f.Name())
		}
	}()
	if mode != nil {
		if err := f.Chmod(mode.Perm()); err != nil {
			return writeError(path, err)
		}
	}
	if err := writeBuffered(&writeback{file: f}, write); err != nil {
		return writeError(path, err)
	}
	if err := f.Sync(); err != nil {
		return writeError(path, err)
	}
	if !canRenameOpen {
		f.Close()
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return writeError(path, err)
	}
	renamed = true
	if err := syncFolder(folder); err != nil {
		return fmt.Errorf("write %s: sync its folder: %w", path, err)
	}
	return nil
}

// resolve follows symbolic links and returns the mode of the existing file, or nil
// if there is none.
func resolve(path string) (target string, mode *fs.FileMode, err error) {
	if path == "" {
		return "", nil, errors.New("write: the file name is empty")
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return "", nil, fmt.Errorf("write %s: it is a folder; give a file name", path)
	case err == nil:
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, writeError(path, err)
		}
		m := info.Mode()
		return target, &m, nil
	case os.IsPathSeparator(path[len(path)-1]):
		return "", nil, fmt.Errorf("write %s: it is the name of a folder; give a file name", path)
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	default:
		return "", nil, folderError(path, err)
	}
}

// writeError reports the file that the user named instead of the temporary file.
func writeError(path string, err error) error {
	if inner, ok := err.(*fs.PathError); ok {
		err = inner.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// folderError explains why no file can be created in the folder of path.
func folderError(path string, err error) error {
	folder := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: the folder %s does not exist; create it first: %w", path, folder, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write %s: no permission to create files in the folder %s: %w", path, folder, fs.ErrPermission)
	}
	return writeError(path, err)
}

func writeDirectly(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return writeError(path, err)
	}
	err = writeBuffered(f, write)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return writeError(path, err)
	}
	return nil
}

func writeBuffered(f io.Writer, write func(w io.Writer) error) error {
	w := bufio.NewWriterSize(f, 256<<10)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// temporaryPrefix returns the prefix of the temporary files of target, truncated so
// that the name stays within the limit of file systems.
func temporaryPrefix(target string) string {
	base := filepath.Base(target)
	return "." + base[:min(len(base), 200)] + ".writing-"
}

// createBeside creates a temporary file in the folder of target and locks it, which
// distinguishes it from files left by killed processes.
func createBeside(target string) (*os.File, error) {
	for {
		name := fmt.Sprintf("%s%016x", temporaryPrefix(target), rand.Uint64())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, err
		}
		if lock(f) != lockedByOther && stillThere(f) {
			return f, nil
		}
		// Another process removed it as a leftover before it was locked.
		f.Close()
		os.Remove(f.Name())
	}
}

func stillThere(f *os.File) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(opened, named)
}

// removeLeftovers removes temporary files of target that no process holds. Errors
// are ignored because they do no harm.
func removeLeftovers(target string, folder *os.File) {
	entries, err := folder.ReadDir(-1)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), temporaryPrefix(target)) || !e.Type().IsRegular() {
			continue
		}
		f, err := os.OpenFile(filepath.Join(filepath.Dir(target), e.Name()), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		if lock(f) == locked {
			os.Remove(f.Name())
		}
		f.Close()
	}
}

// A lockState is the result of locking a file. A lock lasts until the file is closed
// or the process ends.
type lockState int

const (
	noLocks       lockState = iota // the system does not support locks
	locked                         // locked by this call
	lockedByOther                  // held by an active writer
)
