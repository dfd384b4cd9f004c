package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// checkInputs refuses standard input given twice.
func checkInputs(files []string) error {
	dashes := 0
	for _, f := range files {
		if f == "-" {
			dashes++
		}
	}
	if dashes > 1 {
		return usagef("standard input (-) is given %d times; it can be read once", dashes)
	}
	return nil
}

// checkTarget refuses, before any work, an output that is one of the inputs or
// that cannot be made.
func checkTarget(output string, inputs []string) error {
	folder := filepath.Dir(output)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("%s cannot be written: there is no folder %s; make it first", output, folder)
	}
	info, err := os.Stat(output)
	switch {
	case err == nil && info.IsDir():
		return usagef("%s is a folder; give the name of a file", output)
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a pipe, which nothing is made for
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usagef("%s cannot be written: %v; choose another name", output, cause(err))
	}
	for _, input := range inputs {
		if other, otherErr := os.Stat(input); err == nil && otherErr == nil && os.SameFile(info, other) {
			return usagef("%s is read by this command; write to another file", output)
		}
	}
	return checkWritable(folder)
}

// samePath tells whether two names are of the same file, be it there or not.
func samePath(a, b string) bool {
	first, firstErr := filepath.Abs(a)
	second, secondErr := filepath.Abs(b)
	return firstErr == nil && secondErr == nil && first == second
}

// checkWritable tries to make a file in a folder.
func checkWritable(folder string) error {
	f, err := os.CreateTemp(folder, ".kft-try-*")
	if err != nil {
		return fmt.Errorf("nothing can be written in the folder %s: %v; choose another one", folder, cause(err))
	}
	f.Close()
	return os.Remove(f.Name())
}

// checkFolder refuses a folder that cannot be made or written in.
func checkFolder(folder string) error {
	for {
		info, err := os.Stat(folder)
		parent := filepath.Dir(folder)
		switch {
		case err == nil && info.IsDir():
			return checkWritable(folder)
		case err == nil:
			return usagef("%s is not a folder", folder)
		case !errors.Is(err, fs.ErrNotExist) || parent == folder:
			return fmt.Errorf("the folder %s cannot be made: %v", folder, cause(err))
		}
		folder = parent
	}
}

// cause is what went wrong without the name of a file that the user did not give.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
