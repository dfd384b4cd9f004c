package buildinfo

import "testing"

func TestVersionIsNeverEmpty(t *testing.T) {
	t.Parallel()
	if Version() == "" {
		t.Error("got an empty version")
	}
}
