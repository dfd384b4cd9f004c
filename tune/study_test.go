package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func toyStudy() Definition {
	return Definition{Space: toySpace(), Goal: Minimize, Sampler: "tpe", Seed: 1, Facts: []Fact{{"objective", "toy"}}}
}

func openStore(t *testing.T, file string) *SQLite {
	t.Helper()
	s, err := OpenSQLite(t.Context(), file, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openStudy(t *testing.T, store Store, def Definition) *Study {
	t.Helper()
	s, err := Open(t.Context(), store, def)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scoreToy(_ context.Context, t Trial) (float64, error) {
	if t.Number == 4 {
		return 0, errors.New("this trial always fails")
	}
	return toy(t.Values), nil
}

// results returns the trials without the fields that depend on how a study was run.
func results(t *testing.T, store Store) []Trial {
	t.Helper()
	all, err := store.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		all[i].Began, all[i].Ended, all[i].Attempt, all[i].Worker = time.Time{}, time.Time{}, 0, ""
	}
	return all
}

func TestStudyIsDeterministicAndResumes(t *testing.T) {
	const trials = 25
	run := func(name string, stopAt ...int) []Trial {
		file := filepath.Join(t.TempDir(), "a study?#%20.db")
		for _, stop := range append(stopAt, -1) {
			// A new connection each time, as in a new process.
			store := openStore(t, file)
			ctx, cancel := context.WithCancel(t.Context())
			err := openStudy(t, store, toyStudy()).Work(ctx, trials, Worker{Name: name, Objective: func(ctx context.Context, t Trial) (float64, error) {
				if t.Number == stop {
					cancel()
				}
				return scoreToy(ctx, t)
			}})
			cancel()
			if stop >= 0 != errors.Is(err, context.Canceled) {
				t.Fatalf("stopped at %d: got error %v", stop, err)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		return results(t, openStore(t, file))
	}
	whole := run("one")
	if again := run("two"); !reflect.DeepEqual(whole, again) {
		t.Errorf("second run: got\n%v\nwant\n%v", again, whole)
	}
	if pieces := run("three", 3, 11, 12, 24); !reflect.DeepEqual(whole, pieces) {
		t.Errorf("interrupted run: got\n%v\nwant\n%v", pieces, whole)
	}
	failed := whole[4]
	if len(whole) != trials || failed.State != Failed || failed.Problem != "this trial always fails" || failed.Score != nil {
		t.Errorf("got %d trials with number 4 %+v, want %d with number 4 failed", len(whole), failed, trials)
	}
}

// Other workers may have queued more trials than this worker was asked to run.
func TestWorkStopsAtRequestedTrials(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	study := openStudy(t, store, toyStudy())
	if err := store.Grow(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ trials, want int }{{6, 6}, {4, 6}, {9, 9}} {
		if err := study.Work(t.Context(), c.trials, Worker{Objective: scoreToy}); err != nil {
			t.Fatal(err)
		}
		finished := 0
		for _, trial := range results(t, store) {
			if trial.Finished() {
				finished++
			}
		}
		if finished != c.want {
			t.Errorf("Work(%d): got %d finished trials, want %d", c.trials, finished, c.want)
		}
	}
}

func TestReports(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	def := toyStudy()
	def.Goal = Maximize
	study := openStudy(t, store, def)
	var reports []string
	w := Worker{
		Objective: func(_ context.Context, t Trial) (float64, error) {
			if t.Number == 2 {
				panic("oh")
			}
			return []float64{1, 3, 0, 2}[t.Number], nil
		},
		OnEnd: func(r Report) {
			reports = append(reports, fmt.Sprintf("%d %s of %d/%d best %d", r.Trial.Number, r.Trial.State, r.Finished, r.Trials, r.Best.Number))
		},
	}
	if err := study.Work(t.Context(), 3, w); err != nil {
		t.Fatal(err)
	}
	if err := study.Work(t.Context(), 4, w); err != nil { // more trials of the same study
		t.Fatal(err)
	}
	want := []string{"0 done of 1/3 best 0", "1 done of 2/3 best 1", "2 failed of 3/3 best 1", "3 done of 4/4 best 1"}
	if !reflect.DeepEqual(reports, want) {
		t.Errorf("got %q, want %q", reports, want)
	}
	if p := results(t, store)[2].Problem; !strings.HasPrefix(p, "panic: oh\n") {
		t.Errorf("got problem %q, want the panic", p)
	}
}

func TestOpenRejectsDifferentStudy(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	openStudy(t, store, toyStudy())
	openStudy(t, store, toyStudy())
	for _, c := range []struct {
		change func(*Definition)
		want   string
	}{
		{func(d *Definition) { d.Space[1].High = 32 }, "parameter rank is log-integer 1 64 in the store and log-integer 1 32 here"},
		{func(d *Definition) { d.Space = d.Space[1:] }, `parameter kernel is choice "rbf" "matern32" "periodic:12" in the store and not given here`},
		{func(d *Definition) { d.Space = append(d.Space, Param{Name: "rate", Kind: Uniform, High: 1}) }, "parameter rate is uniform 0 1 here and not given in the store"},
		{func(d *Definition) { d.Space[0], d.Space[1] = d.Space[1], d.Space[0] }, "the parameters have a different order"},
		{func(d *Definition) { d.Goal, d.Seed = Maximize, 2 }, "goal is minimize in the store and maximize here; seed is 1 in the store and 2 here"},
		{func(d *Definition) { d.Facts[0].Text = "r2" }, "objective is toy in the store and r2 here"},
	} {
		def := toyStudy()
		c.change(&def)
		_, err := Open(t.Context(), store, def)
		var other *DefinitionError
		if want := "the stored study differs: " + c.want; !errors.As(err, &other) || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

// A worker that only waits for another one, which may have died, reports it.
func TestWaiting(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "study.db"))
	study := openStudy(t, store, toyStudy())
	if err := store.Grow(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	const lease = time.Second
	if _, _, err := store.Claim(t.Context(), "dying", 3, lease); err != nil {
		t.Fatal(err)
	}
	var waited []int
	err := study.Work(t.Context(), 3, Worker{Lease: lease, Objective: scoreToy, OnWait: func(held int) { waited = append(waited, held) }})
	if err != nil || !reflect.DeepEqual(waited, []int{1}) {
		t.Errorf("got waits %v, %v, want one wait for one trial", waited, err)
	}
}
