package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table has the figures of a fit and of its estimate.
func TestRun(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "kft")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/kft").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, c := range []struct {
		shape string
		rows  int
	}{{"retail", 5000}} {
		var out strings.Builder
		o := options{program: program, shape: c.shape, rows: c.rows, sweeps: 2, threads: 2, attainable: true, folder: filepath.Join(t.TempDir(), "table")}
		if err := o.run(context.Background(), &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`\n\| 5000 \| 2 \| \d+ \| \d+ \| [\d.]+ \| [\d.]+ \| \d+ \| \d+ \| -?[\d.]+ \|\n`, `best that can be learned from 60 % of the rows [\d.]+\n`} {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: got %s, want a match of %s", c.shape, out.String(), want)
			}
		}
	}
	if err := (options{program: program, shape: "none"}).run(context.Background(), &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "unknown shape") {
		t.Errorf("got %v, want an error about the shape", err)
	}
}
