package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var completeRun = []string{"split 1", "split 2", "tune tuned", "fit plain.1", "fit tuned.1", "fit plain.2", "fit tuned.2"}

// The first run does everything, split by split, and the second nothing.
func TestRun(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	f := &fakeRunner{}
	done, progress, err := start(t, exp, f)
	if want := (Done{Cells: 4}); err != nil || done != want {
		t.Fatalf("got %+v, %v, want %+v", done, err, want)
	}
	if !slices.Equal(f.calls, completeRun) {
		t.Errorf("got calls %q, want %q", f.calls, completeRun)
	}
	if want := "cell 4 of 4: tuned, split 2: R2 0.5000 in 2.0 s"; !slices.Contains(progress, want) {
		t.Errorf("got progress %q, want a line %q", progress, want)
	}
	r, err := Read(exp.Output)
	if err != nil || len(r.Cells) != 4 || len(r.Tuning) != 1 {
		t.Fatalf("got results %+v, %v, want 4 cells and 1 tuning", r, err)
	}
	if c := r.cells("tuned")[2]; string(c.Test["terms"]) != `"store,item:7"` || c.Values["rank.1"] != "7" || c.Tool != "fake 1" || c.CPU != 3 {
		t.Errorf("got %+v as the tuned cell of split 2, want term store,item:7, rank.1 7, tool fake 1 and 3 CPU seconds", c)
	}
	f = &fakeRunner{}
	if done, _, err := start(t, exp, f); err != nil || done.Cells != 4 || len(f.calls) > 0 {
		t.Errorf("second run: got %+v, %v, calls %q, want 4 cells without calls", done, err, f.calls)
	}
	_, progress, err = start(t, exp, f, func(o *Options) { o.Tool = "fake 2" })
	for _, want := range []string{"tuning of tuned: already done by fake 1", "cell 4 of 4: tuned, split 2: already done by fake 1: R2 0.5000 in 2.0 s"} {
		if err != nil || len(f.calls) > 0 || !slices.Contains(progress, want) {
			t.Errorf("run by another version: got %v, calls %q, progress %q, want a line %q and no calls", err, f.calls, progress, want)
		}
	}
}

// Warnings about the specifications come before everything else.
func TestRunReportsWarnings(t *testing.T) {
	setup(t)
	write(t, "specs/kft.yaml", "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item]}\nfit: {rate: 0.1}\n")
	_, progress, err := start(t, load(t, twoConfigurations), &fakeRunner{})
	if want := "warning: specs/kft.yaml:3: fit.rate is deprecated; use fit.learning-rate"; err != nil || len(progress) == 0 || progress[0] != want {
		t.Errorf("got %v, progress %q, want %q first", err, progress, want)
	}
}

// A run that ended at any call continues there.
func TestResumeAfterKill(t *testing.T) {
	for k, call := range completeRun {
		for _, interrupted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/interrupted=%v", call, interrupted), func(t *testing.T) {
				setup(t)
				exp := load(t, twoConfigurations)
				f := &fakeRunner{dieAt: call}
				if interrupted {
					f.onDeath = func() {}
				}
				_, _, err := start(t, exp, f)
				if err == nil || interrupted && !errors.Is(err, context.Canceled) {
					t.Fatalf("first run: got error %v", err)
				}
				f = &fakeRunner{}
				if _, _, err := start(t, exp, f); err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(completeRun[k:])
				if call == "tune tuned" {
					r, err := Read(exp.Output)
					if want := map[bool]float64{false: 5, true: 1 + 5}[interrupted]; err != nil || r.Tuning[0].Seconds != want {
						t.Errorf("seconds of tuning in both runs: got %v, %v, want %v", r.Tuning[0].Seconds, err, want)
					}
					want = append([]string{"resume"}, want...) // its study is kept
				}
				if !slices.Equal(f.calls, want) {
					t.Errorf("second run: got calls %q, want %q", f.calls, want)
				}
			})
		}
	}
}

// Only what depends on a change is done again.
func TestChangedDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(t *testing.T, exp *Spec)
		calls    []string
		progress string
	}{
		"specification": {func(t *testing.T, s *Spec) { s.Configurations[0].Spec.Fit.Sweeps = 3 },
			[]string{"fit plain.1", "fit plain.2"}, "cell 1 of 4: plain, split 1: specification, table or split has changed"},
		"table": {func(t *testing.T, s *Spec) { write(t, "sales.csv", "store,item,units\na,b,2\n") },
			completeRun, "cell 1 of 4: plain, split 1: specification, table or split has changed"},
		"seed of a split": {func(t *testing.T, s *Spec) { s.Splits[1].Seed = 6 },
			[]string{"split 2", "fit plain.2", "fit tuned.2"}, "split 2: the file had other parts"},
		"damaged split file": {func(t *testing.T, s *Spec) { write(t, s.Output.SplitFile(2), "half") },
			[]string{"split 2"}, "already done"},
		"replaced split file": {func(t *testing.T, s *Spec) {
			text, err := os.ReadFile(s.Output.SplitFile(1))
			if err != nil {
				t.Fatal(err)
			}
			write(t, s.Output.SplitFile(2), string(text))
		}, []string{"split 2"}, "split 2: the file had other parts"},
		"objective": {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Objective = "mae" },
			[]string{"tune tuned"}, "tuning of tuned: specification, table, split or search has changed"},
		"more trials": {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Trials = 4 },
			[]string{"resume", "tune tuned"}, "4 trials"},
		"fewer trials": {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Trials = 2 },
			[]string{"tune tuned"}, "2 trials"},
		"name and table": {func(t *testing.T, s *Spec) { s.Name, s.Against, s.Measures = "y", "", []string{"mae"} },
			nil, "already done"},
	} {
		t.Run(name, func(t *testing.T) {
			setup(t)
			exp := load(t, twoConfigurations)
			if _, _, err := start(t, exp, &fakeRunner{}); err != nil {
				t.Fatal(err)
			}
			c.change(t, &exp)
			f := &fakeRunner{}
			_, progress, err := start(t, exp, f)
			if err != nil || !slices.Equal(f.calls, c.calls) {
				t.Errorf("got calls %q, %v, want %q", f.calls, err, c.calls)
			}
			if !strings.Contains(strings.Join(progress, "\n"), c.progress) {
				t.Errorf("got progress %q, want %q in it", progress, c.progress)
			}
		})
	}
}

func TestRedo(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	if _, _, err := start(t, exp, &fakeRunner{}); err != nil {
		t.Fatal(err)
	}
	redo := func(name string) func(*Options) { return func(o *Options) { o.Redo = []string{name} } }
	f := &fakeRunner{}
	_, _, err := start(t, exp, f, redo("tuned"))
	if want := []string{"tune tuned", "fit tuned.1", "fit tuned.2"}; err != nil || !slices.Equal(f.calls, want) {
		t.Errorf("got calls %q, %v, want %q", f.calls, err, want)
	}
	// Results are not discarded if the work cannot be done.
	if err := os.Rename("sales.csv", "away.csv"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, exp, f, redo("tuned")); err == nil {
		t.Error("without the table: got no error")
	}
	if r, err := Read(exp.Output); err != nil || len(r.Cells) != 4 || len(r.Tuning) != 1 {
		t.Errorf("after a run without the table: got %d cells and %d tunings, %v, want 4 and 1", len(r.Cells), len(r.Tuning), err)
	}
	if _, _, err := start(t, exp, f, redo("tunde")); err == nil || !strings.Contains(err.Error(), `did you mean "tuned"`) {
		t.Errorf("unknown configuration: got error %v", err)
	}
}

// Run refuses an output that is a file, and a missing table.
func TestRunRefuses(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	write(t, "out", "a file")
	if _, _, err := start(t, exp, &fakeRunner{}); err == nil || !strings.Contains(err.Error(), "output: cannot create the folder out") {
		t.Errorf("output that is a file: got error %v", err)
	}
	exp.Output = "results"
	if err := os.Remove("sales.csv"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, exp, &fakeRunner{}); err == nil || !strings.Contains(err.Error(), "sales.csv") {
		t.Errorf("missing table: got error %v", err)
	}
}
