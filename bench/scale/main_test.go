package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The table has a line per number of threads, and the models are the same.
func TestRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	program := filepath.Join(folder, "kft")
	if text, err := exec.Command("go", "build", "-o", program, "../../cmd/kft").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if text, err := exec.Command(program, "data", "synthetic", "--shape", "alcohol", "--rows", "3000", "-o", filepath.Join(folder, "table")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	tables, err := filepath.Glob(filepath.Join(folder, "table", "sales*"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("got tables %v, %v", tables, err)
	}
	var out strings.Builder
	args := []string{tables[0], "--target", "bottles", "--modes", "store,item,time=year+month", "--term", "store,item,time:2", "--sweeps", "2"}
	if err := run(context.Background(), program, nil, "1,2,3", filepath.Join(folder, "scale.svg"), args, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| threads | read |", "\n| 1 |", "\n| 2 |", "\n| 3 |", "the same bytes"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q in it", out.String(), want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(folder, "scale.svg")); err != nil || !strings.Contains(string(text), "times as fast as on 1") {
		t.Errorf("got the picture %s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "model.kft")); err == nil {
		t.Error("a model was left behind")
	}
}

func TestThreadNumbers(t *testing.T) {
	t.Parallel()
	if _, err := threadNumbers("1,x"); err == nil {
		t.Error("got no error")
	}
	if got, err := threadNumbers("2, 16"); err != nil || len(got) != 2 || got[1] != 16 {
		t.Errorf("got %v, %v", got, err)
	}
}
