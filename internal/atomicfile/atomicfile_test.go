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

// expect checks what the file holds and that it is alone in its folder.
func expect(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
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
		t.Errorf("the folder holds %q, want %q", names, want)
	}
}

func TestWriteMakesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	for _, want := range []string{"first", "", strings.Repeat("long ", 1<<18)} {
		if err := Write(path, text(want)); err != nil {
			t.Fatal(err)
		}
		expect(t, path, want)
	}
}

func TestFailingWriterLeavesTheOldFile(t *testing.T) {
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
		t.Errorf("error %v", err)
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
		t.Error("no error")
	}
	expectNames(t, folder)
}

func TestWriteRefuses(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		path, want string
		is         error
	}{
		{folder, "it is a folder; give the name of a file", nil},
		{folder + "/sub/", "it names a folder", nil},
		{folder + "/no/such/out.csv", "there is no folder " + folder + "/no/such; make it first", fs.ErrNotExist},
		{"", "empty", nil},
	} {
		err := Write(c.path, func(io.Writer) error {
			t.Errorf("%s: the writer was called", c.path)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want %q", c.path, err, c.want)
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
		t.Errorf("mode %v, %v", info.Mode(), err)
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
		t.Errorf("the link is %q, %v", got, err)
	}
	if got, _ := os.ReadFile(target); string(got) != "new" {
		t.Errorf("behind the link is %q", got)
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

func TestManyWritersOfOneFile(t *testing.T) {
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
		t.Errorf("a mixture of %d bytes, %v", len(got), err)
	}
	expectNames(t, filepath.Dir(path), "out")
}
