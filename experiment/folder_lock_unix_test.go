//go:build unix && !solaris && !illumos && !aix

package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A second run in the same folder is refused while the first one works.
func TestFolderLock(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockFolder(filepath.Join("out", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, exp, &fakeRunner{}); err == nil || !strings.Contains(err.Error(), "another process is running an experiment in this folder") {
		t.Errorf("with a locked folder: got error %v", err)
	}
	unlock()
	if _, _, err := start(t, exp, &fakeRunner{}); err != nil {
		t.Errorf("after unlocking: got error %v, want none", err)
	}
}
