package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommittedFilesAreWhatTheGeneratorPrints(t *testing.T) {
	for name := range files {
		have, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Errorf("%v; run go generate in backend/cpu", err)
			continue
		}
		if string(have) != generate(name) {
			t.Errorf("%s is not what the generator prints; run go generate in backend/cpu", name)
		}
	}
}

// TestEveryReturnClearsUpperRegisters guards against the slow SSE code that
// follows a kernel which leaves them dirty.
func TestEveryReturnClearsUpperRegisters(t *testing.T) {
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
