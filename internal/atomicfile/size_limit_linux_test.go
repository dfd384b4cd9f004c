package atomicfile

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// limitedFile, in the environment, makes the test that reads it write there with
// a limit on the size of files, which holds for a whole process.
const limitedFile = "KFT_ATOMICFILE_TEST_LIMITED"

// A disk that runs full in the middle of a file, as a limit on its size plays it
// to those who cannot mount a small disk.
func TestWriteThatDoesNotFit(t *testing.T) {
	if path := os.Getenv(limitedFile); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text(strings.Repeat("new", 1<<20))); !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v", err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "best.yaml")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestWriteThatDoesNotFit$")
	child.Env = append(os.Environ(), limitedFile+"="+path)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	expect(t, path, "old")
}
