package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// estimateTable writes a table of the given number of rows and returns its path.
func estimateTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("store,item,units\n")
	for s := range 40 {
		for i := range 50 {
			if (s*7+i*3)%4 > 0 {
				b.WriteString("s" + string(rune('A'+s%26)) + string(rune('a'+s/26)) + ",i" + string(rune('A'+i%26)) + string(rune('a'+i/26)) + "," + string(rune('1'+(s*i)%9)) + "\n")
			}
		}
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A dry run tells rows, memory and time, and writes no model.
func TestFitDryRun(t *testing.T) {
	t.Parallel()
	table := estimateTable(t)
	model := filepath.Join(t.TempDir(), "m.kft")
	var out, errs strings.Builder
	args := []string{"fit", table, "--target", "units", "--term", "store,item:2", "--term", "store", "--inference", "mean-field", "--transform", "identity", "--quiet", "-o", model, "--dry-run"}
	if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("got code %d: %s", code, errs.String())
	}
	for _, want := range []string{"train", "Memory: about ", "per sweep"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want %q in it", out.String(), want)
		}
	}
	out.Reset()
	if code := run(t.Context(), append(args, "--json"), strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("got code %d: %s", code, errs.String())
	}
	var e struct {
		Rows    [3]int  `json:"rows"`
		Least   int64   `json:"least_bytes"`
		Memory  int64   `json:"memory_bytes"`
		Seconds float64 `json:"sweep_seconds"`
	}
	if err := json.Unmarshal([]byte(out.String()), &e); err != nil {
		t.Fatal(err)
	}
	if e.Rows[0]+e.Rows[1]+e.Rows[2] != 1500 || e.Least < 1<<20 || e.Memory < e.Least || !(e.Seconds > 0) {
		t.Errorf("got %+v", e)
	}
	if _, err := os.Stat(model); err == nil {
		t.Error("a dry run wrote a model")
	}
}

// A fit that needs more memory than it may use is refused with both figures.
func TestFitMemoryLimit(t *testing.T) {
	t.Parallel()
	table := estimateTable(t)
	model := filepath.Join(t.TempDir(), "m.kft")
	for limit, want := range map[string]string{"1MiB": "its limit is 1 MiB", "2 XB": "is not a size", "-1GiB": "is not a size", "0GiB": "is not a size"} {
		var out, errs strings.Builder
		args := []string{"fit", table, "--target", "units", "--term", "store,item:2", "--inference", "mean-field", "--transform", "identity", "--quiet", "-o", model, "--memory=" + limit}
		if code := run(t.Context(), args, strings.NewReader(""), &out, &errs); code == 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: got code %d and %q, want an error with %q", limit, code, errs.String(), want)
		}
		if _, err := os.Stat(model); err == nil {
			t.Errorf("%s: a model was written", limit)
		}
	}
}
