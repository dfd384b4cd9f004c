package publicdata

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// read returns the text of a file, decompressed if its name ends in .gz.
func read(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// If anything fails during writing, no file remains.
func TestAllFilesOrNone(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "temporary", Err: syscall.ENOSPC}
	for _, c := range []struct {
		name  string
		write func(w []io.Writer) error
		is    error
	}{
		{"interrupted", func(w []io.Writer) error { w[0].Write([]byte("half")); return context.Canceled }, context.Canceled},
		{"full disk", func(w []io.Writer) error { return full }, syscall.ENOSPC},
	} {
		dir := t.TempDir()
		err := Folder{Path: dir}.write([]string{"a.csv", "b.csv.gz"}, c.write)
		if !errors.Is(err, c.is) || len(files(t, dir)) > 0 {
			t.Errorf("%s: got error %v and files %q, want %v and none", c.name, err, files(t, dir), c.is)
		}
	}
	_, err := namedWriter{failing{full}, "out/b.csv.gz"}.Write([]byte("x"))
	if err == nil || err.Error() != "write out/b.csv.gz: no space left on device" {
		t.Errorf("got error %v, want one that names the file", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFilesAreNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "stores.csv", "mine")
	var exists *ExistsError
	if err := (Folder{Path: dir}).check(nil, "sales.csv", "stores.csv"); !errors.As(err, &exists) || !strings.Contains(err.Error(), "stores.csv already exists") {
		t.Errorf("existing file: got error %v, want an ExistsError", err)
	}
	if err := (Folder{Path: dir, Force: true}).check([]string{"", "other.csv"}, "sales.csv", "stores.csv"); err != nil {
		t.Error(err)
	}
	var isInput *InputOverwriteError
	if err := (Folder{Path: dir, Force: true}).check([]string{filepath.Join(dir, ".", "stores.csv")}, "sales.csv", "stores.csv"); !errors.As(err, &isInput) {
		t.Errorf("output that is an input: got error %v, want an InputOverwriteError", err)
	}
}
