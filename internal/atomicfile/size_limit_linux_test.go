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

// limitedFile is an environment variable that makes the test write to that file with
// a limit on file sizes, which applies to the whole process.
const limitedFile = "KFT_ATOMICFILE_TEST_LIMITED"

// The file size limit simulates a disk that becomes full while a file is written.
func TestWriteThatDoesNotFit(t *testing.T) {
	if path := os.Getenv(limitedFile); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text(strings.Repeat("new", 1<<20))); !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path) {
			t.Errorf("got error %v, want EFBIG with the path", err)
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
