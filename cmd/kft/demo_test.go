package main

import (
	"strings"
	"testing"
)

// The demonstration works in an empty folder, its model beats the baselines and
// stays below the truth, and each command it suggests works.
func TestDemo(t *testing.T) {
	inEmptyFolder(t)
	r := must(t, "demo", "--quiet")
	for _, part := range []string{"rows of units", "The model beats both baselines on test", "The true distribution"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("nothing about %q in\n%s", part, r.stdout)
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
		t.Errorf("%d commands suggested", ran)
	}
	if r := must(t, "spec"); !strings.Contains(r.stdout, "kft-demo/sales.csv") {
		t.Errorf("kft init left no specification:\n%s", r.stdout)
	}
}
