package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	for name := range files {
		have, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Errorf("%v; run go generate in backend/cpu", err)
			continue
		}
		if string(have) != generate(name) {
			t.Errorf("%s is out of date; run go generate in backend/cpu", name)
		}
	}
}

// TestEveryReturnClearsUpperRegisters checks that no kernel leaves the upper
// registers dirty, which would slow down later SSE code.
func TestEveryReturnClearsUpperRegisters(t *testing.T) {
	t.Parallel()
	for name := range files {
		previous := ""
		for line := range strings.Lines(generate(name)) {
			line = strings.TrimSpace(line)
			if line == "RET" && previous != "VZEROUPPER" {
				t.Errorf("%s: RET after %q, want VZEROUPPER before it", name, previous)
			}
			previous = line
		}
	}
}
