package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// expect checks the content of the file and that it is the only one in its folder.
func expect(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
	expectNames(t, filepath.Dir(path), filepath.Base(path))
}

func expectNames(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, "|") != strings.Join(want, "|") {
		t.Errorf("got files %q, want %q", names, want)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	for _, want := range []string{"first", "", strings.Repeat("long ", 1<<18)} {
		if err := Write(path, text(want)); err != nil {
			t.Fatal(err)
		}
		expect(t, path, want)
	}
}

func TestFailingWriterKeepsOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want %v with the path", err, broken)
	}
	expect(t, path, "old")

	func() {
		defer func() { recover() }()
		Write(path, func(io.Writer) error { panic("writer") })
	}()
	expect(t, path, "old")
}

func TestFailingWriterLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	if err := Write(filepath.Join(folder, "new"), func(io.Writer) error { return io.ErrShortWrite }); err == nil {
		t.Error("got no error")
	}
	expectNames(t, folder)
}

func TestWriteErrors(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		path, want string
		is         error
	}{
		{folder, "it is a folder; give a file name", nil},
		{folder + "/sub/", "it is the name of a folder", nil},
		{folder + "/no/such/out.csv", "the folder " + folder + "/no/such does not exist; create it first", fs.ErrNotExist},
		{"", "empty", nil},
	} {
		err := Write(c.path, func(io.Writer) error {
			t.Errorf("%s: the writer was called", c.path)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got error %v, want one with %q", c.path, err, c.want)
		}
	}
	expectNames(t, folder)
}

func TestWriteKeepsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("new")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "a"), filepath.Join(folder, "b")
	if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink(link); err != nil || got != "a" {
		t.Errorf("got link %q, %v, want a", got, err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Errorf("link target: got %q, want new", got)
	}
	expectNames(t, folder, "a", "b")
}

func TestLongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	if err := Write(path, text("x")); err != nil {
		t.Fatal(err)
	}
	expect(t, path, "x")
}

func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)}
	var group sync.WaitGroup
	for _, want := range contents {
		group.Go(func() {
			for range 50 {
				if err := Write(path, text(want)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != contents[0] && string(got) != contents[1] {
		t.Errorf("got mixed content of %d bytes, %v", len(got), err)
	}
	expectNames(t, filepath.Dir(path), "out")
}
