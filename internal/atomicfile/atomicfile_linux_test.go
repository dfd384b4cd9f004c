package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

func TestReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.kft")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(folder, 0o755)
	err := asNobody(t, filepath.Dir(folder), func() error { return Write(path, text("new")) })
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "no permission to create files in the folder "+folder) {
		t.Errorf("got error %v, want one about permission", err)
	}
	expect(t, path, "old")
}

// asNobody runs f without root privileges, for which no folder is read-only. The
// thread accesses files as another user, who must be able to reach parent.
func asNobody(t *testing.T, parent string, f func() error) error {
	if os.Geteuid() != 0 {
		return f()
	}
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setfsuid(0)
	if _, err := os.ReadDir(filepath.Dir(parent)); err != nil {
		t.Fatalf("user nobody cannot reach the folder of the test: %v", err)
	}
	return f()
}

func TestLeftoversAreRemoved(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.kft")
	leftover := filepath.Join(folder, temporaryPrefix(path)+"dead")
	if err := os.WriteFile(leftover, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	alive, err := createBeside(path)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if err := Write(path, text("whole")); err != nil {
		t.Fatal(err)
	}
	expectNames(t, folder, filepath.Base(alive.Name()), "m.kft")
}

func TestDevicesAreWrittenDirectly(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	received := make(chan string)
	go func() {
		content, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		received <- string(content)
	}()
	if err := Write(pipe, text("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-received; got != "through" {
		t.Errorf("pipe: got %q, want %q", got, "through")
	}
	if err := Write("/dev/full", text("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full device: got error %v, want ENOSPC", err)
	}
	if err := Write(os.DevNull, func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Errorf("%s is no longer a device: %v", os.DevNull, err)
	}
}
