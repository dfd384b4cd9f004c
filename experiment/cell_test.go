package experiment

import (
	"errors"
	"slices"
	"testing"
)

// A failed cell is recorded, the others are not affected, and the next run tries it
// again. A configuration whose tuning failed has failed cells only.
func TestFailedCells(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	f := &fakeRunner{failAt: map[string]error{"fit plain.1": errors.New("no\nmemory"), "tune tuned": errors.New("all trials failed")}}
	done, _, err := start(t, exp, f)
	if want := (Done{Cells: 4, Failed: 3}); err != nil || done != want {
		t.Fatalf("got %+v, %v, want %+v", done, err, want)
	}
	r, err := Read(exp.Output)
	if err != nil {
		t.Fatal(err)
	}
	if p, q := r.cells("plain")[1].Problem, r.cells("tuned")[2].Problem; p != "no memory" || q != "tuning: all trials failed" {
		t.Errorf("got problems %q and %q, want %q and %q", p, q, "no memory", "tuning: all trials failed")
	}
	f = &fakeRunner{}
	done, _, err = start(t, exp, f)
	if want := []string{"tune tuned", "fit plain.1", "fit tuned.1", "fit tuned.2"}; err != nil || done.Failed != 0 || !slices.Equal(f.calls, want) {
		t.Errorf("second run: got %+v, %v, calls %q, want no failures and calls %q", done, err, f.calls, want)
	}
	exp.Configurations[1].Tune.Trials = 4 // a search that fails later does not remove a result
	done, progress, err := start(t, exp, &fakeRunner{failAt: map[string]error{"tune tuned": errors.New("disk full")}})
	if want := "cell 2 of 4: tuned, split 1: failed: tuning: disk full; the earlier result is kept"; err != nil || done.Failed != 2 || !slices.Contains(progress, want) {
		t.Errorf("failed search: got %+v, %v, progress %q, want 2 failures and a line %q", done, err, progress, want)
	}
	if r, err = Read(exp.Output); err != nil || r.cells("tuned")[1].Problem != "" {
		t.Errorf("after a failed search: got cell %+v, %v, want the earlier result", r.cells("tuned")[1], err)
	}
}

// Trials of another version are continued and reported. The table names configurations
// with cells of several versions.
func TestSeveralVersions(t *testing.T) {
	setup(t)
	exp := load(t, twoConfigurations)
	if _, _, err := start(t, exp, &fakeRunner{dieAt: "fit tuned.2"}); err == nil {
		t.Fatal("first run: got no error, want killed")
	}
	exp.Configurations[1].Tune.Trials = 4
	_, progress, err := start(t, exp, &fakeRunner{}, func(o *Options) { o.Tool = "fake 2" })
	if want := "tuning of tuned: continuing trials by fake 1"; err != nil || !slices.Contains(progress, want) {
		t.Errorf("got %v, progress %q, want a line %q", err, progress, want)
	}
	r, err := Read(exp.Output)
	if want := "fake 1, fake 2"; err != nil || r.Tuning[0].Tool != want {
		t.Errorf("got tuning %+v, %v, want tool %q", r.Tuning, err, want)
	}
	s, err := Summarize(r, nil, "")
	if want := []string{"tuned: by fake 1, fake 2"}; err != nil || !slices.Equal(s.Mixed, want) {
		t.Errorf("got %v, mixed versions %q, want %q", err, s.Mixed, want)
	}
}
