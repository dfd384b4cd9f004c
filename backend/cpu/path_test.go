package cpu

import (
	"strings"
	"testing"
)

func TestChoosePath(t *testing.T) {
	for _, c := range []struct {
		value string
		want  Path
		err   string // part of the error, "" if there is none
	}{
		{"", Paths()[0], ""},
		{"generic", Generic, ""},
		{"avx521", "", `unknown instruction set (did you mean "avx512"?)`},
		{"sse", "", "unknown instruction set"},
	} {
		t.Setenv(pathVariable, c.value)
		got, err := ChoosePath()
		if got != c.want {
			t.Errorf("%q: got path %q, want %q", c.value, got, c.want)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: error is %v, want %q", c.value, err, c.err)
		}
	}
}

// TestChooseUnsupportedPath checks the message for an instruction set that this
// CPU does not support. On a CPU that supports all of them there is nothing to
// check.
func TestChooseUnsupportedPath(t *testing.T) {
	for path, name := range displayName {
		t.Setenv(pathVariable, string(path))
		_, err := ChoosePath()
		if want := "this CPU does not support " + name; err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want it to contain %q", path, err, want)
		}
	}
}
