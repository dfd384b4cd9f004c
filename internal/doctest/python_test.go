package doctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPython runs the Python code of the page about the model file, if Python has
// safetensors, and compares its output with the text block after it.
func TestPython(t *testing.T) {
	python := os.Getenv("KFT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import safetensors, numpy").Run(); err != nil {
		t.Logf("%s with safetensors and numpy is not available (pip install safetensors numpy): %v", python, err)
		return
	}
	file := filepath.Join(root, "docs", "concepts", "model-file.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "```python\n")
	code, rest, closed := strings.Cut(rest, "\n```\n\n```text\n")
	shown, after, ended := strings.Cut(rest, "```\n")
	if !found || !closed || !ended {
		t.Fatalf("%s has no Python block followed by its output in a text block", file)
	}
	sh := newShell(t, program(t))
	sh.output(t, "kft fit -q -o sales.kft")
	command := exec.Command(python, "-c", code)
	command.Dir = sh.folder
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) == shown {
		return
	}
	if !*update {
		t.Fatalf("the Python code of %s: got\n%s\nwant\n%s", file, out, shown)
	}
	page := before + "```python\n" + code + "\n```\n\n```text\n" + string(out) + "```\n" + after
	if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
		t.Fatal(err)
	}
}
