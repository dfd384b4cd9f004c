package atomicfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file of several steps of writing back has all that was written.
func TestWriteback(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	want := make([]byte, 3*writebackStep+12345)
	for i := range want {
		want[i] = byte(i * i >> 7)
	}
	err := Write(path, func(w io.Writer) error {
		for from, n := 0, 1; from < len(want); from, n = from+n, n*3 {
			n = min(n, len(want)-from)
			if _, err := w.Write(want[from : from+n]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
	}
}
