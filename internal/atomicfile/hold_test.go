package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestHoldIsExclusive(t *testing.T) {
	t.Parallel()
	if !canRenameOpen {
		t.Skip("this system has no locks")
	}
	path := filepath.Join(t.TempDir(), "lock")
	release, err := Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(path); !errors.Is(err, ErrHeld) {
		t.Errorf("a second Hold: got error %v, want ErrHeld", err)
	}
	release()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after release: got %v, want no file", err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil { // left by a killed process
		t.Fatal(err)
	}
	release, err = Hold(path)
	if err != nil {
		t.Fatalf("a file without a holder: got error %v, want none", err)
	}
	release()
}
