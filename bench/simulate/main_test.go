package main

import (
	"strings"
	"testing"
)

// TestSimulate runs simulations with few tables and checks the form of their rows.
func TestSimulate(t *testing.T) {
	t.Parallel()
	for only, want := range map[string]string{"40 % known, split": "| .", "weighted rows": "weight 0.1 .", "cold": "both modes cold ."} {
		var out strings.Builder
		if err := simulate(t.Context(), &out, 1, only); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 3 || strings.Count(lines[2], "|") != 7 || !strings.Contains(lines[2], want) {
			t.Errorf("simulations with %q: got %q, want one row with %q", only, lines, want)
		}
	}
}
