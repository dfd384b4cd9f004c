package datasettest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/klauspost/compress/gzip"
)

// WriteFile writes text to a file and returns its path. A name that is not absolute
// is that of a file in a new temporary directory.
func WriteFile(tb testing.TB, name, text string) string {
	tb.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(tb.TempDir(), name)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return name
}

// WriteGzip writes text to a compressed file.
func WriteGzip(tb testing.TB, path, text string) {
	tb.Helper()
	var out strings.Builder
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// DevelopmentFile returns the path of a file of the development data, or "" if it
// does not exist. The environment variable KFT_DATA names the directory of the data.
func DevelopmentFile(name string) string {
	root := os.Getenv("KFT_DATA")
	if root == "" {
		root = "../../../shared/data"
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// Modes parses a list of modes.
func Modes(tb testing.TB, s string) []dataset.Mode {
	tb.Helper()
	modes, err := dataset.ParseModes(s)
	if err != nil {
		tb.Fatal(err)
	}
	return modes
}
