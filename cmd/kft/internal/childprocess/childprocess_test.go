package childprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// As a child process, this binary is a program in which kft split fails.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "split" {
		fmt.Fprintln(os.Stderr, "a warning\nkft: sales.csv: no such file")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The error of a child process is the last line that it has written.
func TestErrorOfChild(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := Runner{Program: program}
	err = r.Split(t.Context(), spec.Data{Files: []string{"sales.csv"}}, experiment.Split{Split: "random:60/20/20"}, "parts.csv")
	if want := "sales.csv: no such file"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A study has begun when its file has a definition. The time of its trials is known.
func TestStudyBegun(t *testing.T) {
	t.Parallel()
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "study.db")
	check := func(when string, want bool) (seconds float64) {
		t.Helper()
		begun, seconds, err := studyBegun(ctx, file)
		if err != nil || begun != want {
			t.Errorf("%s: got begun %v, %v; want %v", when, begun, err, want)
		}
		return seconds
	}
	check("without a file", false)
	store, err := tune.OpenStore(ctx, file, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	check("with an empty file", false)
	study, err := tune.Open(ctx, store, tune.Definition{
		Space: tune.Space{{Name: "rank", Kind: tune.LogInteger, Low: 1, High: 64}}, Goal: tune.Minimize, Sampler: "random", Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if seconds := check("without trials", true); seconds != 0 {
		t.Errorf("without trials: got %v s, want 0", seconds)
	}
	began := time.Now()
	err = study.Work(ctx, 2, tune.Worker{Objective: func(context.Context, tune.Trial) (float64, error) {
		time.Sleep(20 * time.Millisecond)
		return 1, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	most := time.Since(began).Seconds() + 0.002 // times are stored in milliseconds
	if seconds := check("with two trials", true); seconds < 0.03 || seconds > most {
		t.Errorf("with two trials of 20 ms: got %v s, want at most %v", seconds, most)
	}
}
