package doctest

import (
	"os/exec"
	"strings"
	"testing"
)

// The Go program in examples/go is a module of its own, so ./... does not cover it.
func TestGoExample(t *testing.T) {
	t.Parallel()
	command := exec.Command("go", "run", ".")
	command.Dir = "../../examples/go"
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go run .: %v\n%s", err, out)
	}
	if want := "the loaded model predicts the same: true"; !strings.Contains(string(out), want) {
		t.Errorf("got output\n%s\nwant %q in it", out, want)
	}
}
