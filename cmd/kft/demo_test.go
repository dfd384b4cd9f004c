package main

import (
	"strings"
	"testing"
)

// The demonstration works in an empty folder, its model beats the formulas, and each
// suggested command works.
func TestDemo(t *testing.T) {
	inEmptyFolder(t)
	r := must(t, "demo", "--quiet")
	for _, part := range []string{"rows of units", "The model beats the best formula", "The true distribution"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("no %q in\n%s", part, r.stdout)
		}
	}
	_, suggestions, _ := strings.Cut(r.stdout, "What to try next:\n")
	ran := 0
	for line := range strings.Lines(suggestions) {
		if command, ok := strings.CutPrefix(line, "  kft "); ok {
			must(t, shellWords(strings.TrimSpace(command))...)
			ran++
		}
	}
	if ran < 5 {
		t.Errorf("got %d suggested commands, want 5 or more", ran)
	}
	if r := must(t, "spec"); !strings.Contains(r.stdout, "kft-demo/sales.csv") {
		t.Errorf("kft init wrote no specification:\n%s", r.stdout)
	}
}
