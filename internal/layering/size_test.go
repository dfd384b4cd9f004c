package layering

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// Most lines of a package and of a file, without tests and generated files: what a reader can
// keep in mind.
const (
	maxPackageLines = 4000
	maxFileLines    = 400
)

// largerPackages lists packages that are still larger, with their lines: they may not grow.
var largerPackages = map[string]int{
	"cmd/kft": 6121,
	"model":   5618,
	"solver":  5322,
}

// largerFiles is the same for files.
var largerFiles = map[string]int{}

// No package and no file is larger than the limits, or than it may be as an exception. An
// exception that is no longer needed is an error.
func TestSizes(t *testing.T) {
	t.Parallel()
	files := linesOfFiles(t, os.DirFS("../.."))
	packages := map[string]int{}
	for file, lines := range files {
		packages[path.Dir(file)] += lines
	}
	delete(packages, "backend/cpu") // a CPU path is one set of kernels
	checkSizes(t, "package", packages, maxPackageLines, largerPackages)
	checkSizes(t, "file", files, maxFileLines, largerFiles)
}

func checkSizes(t *testing.T, what string, lines map[string]int, most int, larger map[string]int) {
	t.Helper()
	for name, n := range lines {
		if limit := max(most, larger[name]); n > limit {
			t.Errorf("%s %s has %d lines, and its limit is %d; divide it", what, name, n, limit)
		}
	}
	for name := range larger {
		if lines[name] <= most {
			t.Errorf("%s %s has %d lines; remove its exception", what, name, lines[name])
		}
	}
}

// linesOfFiles returns the lines of the Go files that are written by hand and are no tests.
func linesOfFiles(t *testing.T, root fs.FS) map[string]int {
	t.Helper()
	lines := map[string]int{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		base := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name != "." && strings.HasPrefix(base, ".") || base == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil && !bytes.HasPrefix(text, []byte("// Code generated")) {
			lines[name] = bytes.Count(text, []byte("\n"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
