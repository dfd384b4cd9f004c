package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// checkInputs returns an error if standard input is given twice.
func checkInputs(files []string) error {
	dashes := 0
	for _, f := range files {
		if f == "-" {
			dashes++
		}
	}
	if dashes > 1 {
		return usagef("standard input (-) is given %d times, but it can be read only once; use files", dashes)
	}
	return nil
}

// sideFiles returns the files of side tables. Texts that cannot be parsed are skipped.
func sideFiles(tables []string) []string {
	var files []string
	for _, text := range tables {
		if t, err := sideinfo.ParseSpec(text); err == nil && !t.FromIDs() {
			files = append(files, t.File)
		}
	}
	return files
}

// checkOutput returns, before any work, an error for an output that is one of the
// inputs or that cannot be created.
func checkOutput(output string, inputs []string) error {
	if output == "-" {
		return usagef("this cannot be written to standard output; use the name of a file")
	}
	folder := filepath.Dir(output)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usagef("%s cannot be written: the folder %s does not exist; create it first", output, folder)
	}
	info, err := os.Stat(output)
	switch {
	case err == nil && info.IsDir():
		return usagef("%s is a folder; use the name of a file", output)
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a pipe, which is not created
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usagef("%s cannot be written: %v; choose another name", output, cause(err))
	}
	for _, input := range inputs {
		if other, otherErr := os.Stat(input); err == nil && otherErr == nil && os.SameFile(info, other) {
			return usagef("%s is an input of this command; write to another file", output)
		}
	}
	return checkWritable(folder)
}

// samePath reports whether two names are the same path, whether the file exists or not.
func samePath(a, b string) bool {
	first, firstErr := filepath.Abs(a)
	second, secondErr := filepath.Abs(b)
	return firstErr == nil && secondErr == nil && first == second
}

// checkWritable creates and removes a file in a folder.
func checkWritable(folder string) error {
	f, err := os.CreateTemp(folder, ".kft-try-*")
	if err != nil {
		return fmt.Errorf("the folder %s is not writable: %v; choose another one", folder, cause(err))
	}
	f.Close()
	return os.Remove(f.Name())
}

// checkFolder returns an error for a folder that cannot be created or written to.
func checkFolder(folder string) error {
	for {
		info, err := os.Stat(folder)
		parent := filepath.Dir(folder)
		switch {
		case err == nil && info.IsDir():
			return checkWritable(folder)
		case err == nil:
			return usagef("%s is not a folder; choose another one", folder)
		case !errors.Is(err, fs.ErrNotExist) || parent == folder:
			return fmt.Errorf("the folder %s cannot be created: %v; choose another one", folder, cause(err))
		}
		folder = parent
	}
}

// cause returns an error without the name of a file that the user did not give.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
