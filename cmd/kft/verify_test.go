package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/tune"
)

func TestVerify(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", synthetic.Options{Stores: 6, Items: 8, Months: 6, Pairs: 40, Seed: 1})
	must(t, "fit", "sales.csv", "--target", "units", "--modes", "store,item,time=year+month", "--rank", "1", "--sweeps", "2", "--checkpoint", "c", "-q")
	writeStudy(t, "study.db", "score: x\ngoal: minimize\nparameter a: uniform 0 1\n")
	checkpoint := filepath.Join("c", "checkpoint.kft")
	r := must(t, "verify", "model.kft", checkpoint, "study.db")
	if want := "model.kft: sound model\n" + checkpoint + ": sound checkpoint\nstudy.db: sound study\n"; r.stdout != want || r.stderr != "" {
		t.Errorf("got %q and %q, want %q", r.stdout, r.stderr, want)
	}
	craft := func(from, to string, change func(*modelfile.File)) {
		f, err := modelfile.Read(from)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		if err := modelfile.Write(to, f); err != nil {
			t.Fatal(err)
		}
	}
	craft("model.kft", "noise.kft", func(f *modelfile.File) { f.Meta["uncertainty"] = `{"constant":{"variance":-1}}` })
	craft(checkpoint, "block.kft", func(f *modelfile.File) {
		f.Meta["run"] = strings.Replace(f.Meta["run"], `"Memory":0`, `"Memory":1099511627776`, 1)
	})
	data, err := os.ReadFile("model.kft")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "cut.kft", string(data[:len(data)-9]))
	writeStudy(t, "bad.db", "goal: sideways\n")
	r = call(t, "verify", "model.kft", "noise.kft", "block.kft", "cut.kft", "bad.db", "sales.csv", "none")
	if r.code != exitFailed {
		t.Errorf("got exit code %d, want %d", r.code, exitFailed)
	}
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	for i, want := range []string{"model.kft: sound model", "noise.kft: not sound: not a valid model: its noise variance is -1", "block.kft: not sound: not a valid checkpoint: its run has 1099511627776 arrays",
		"cut.kft: not sound: truncated", "bad.db: not sound: not a valid study: the goal is", "sales.csv: not sound: a text file", "none: not sound: no such file"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: got %q, want it to begin with %q", i, lines[min(i, len(lines)-1)], want)
		}
	}
}

// writeStudy writes a study with a definition.
func writeStudy(t *testing.T, file, definition string) {
	t.Helper()
	store, err := tune.OpenSQLite(context.Background(), file, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Define(context.Background(), definition); err != nil {
		t.Fatal(err)
	}
}
