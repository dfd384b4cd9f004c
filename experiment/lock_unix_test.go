//go:build unix && !solaris && !illumos && !aix

package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two at once: the second is refused while the first is at work.
func TestTwoAtOnce(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	if err := os.Mkdir("out", 0o777); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(filepath.Join("out", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, spec, &fake{}); err == nil || !strings.Contains(err.Error(), "another kft experiment works in this folder") {
		t.Errorf("the second one: %v", err)
	}
	unlock()
	if _, _, err := start(t, spec, &fake{}); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}
