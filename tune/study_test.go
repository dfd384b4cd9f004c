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
		return 0, errors.New("this one never works")
	}
	return toy(t.Values), nil
}

// results are what must not depend on how a study was run.
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
			// Each time by a new connection, as a new process would.
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
				t.Fatalf("stopped at %d: %v", stop, err)
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
		t.Errorf("a second run differs:\n%v\n%v", whole, again)
	}
	if pieces := run("three", 3, 11, 12, 24); !reflect.DeepEqual(whole, pieces) {
		t.Errorf("a run in pieces differs:\n%v\n%v", whole, pieces)
	}
	failed := whole[4]
	if len(whole) != trials || failed.State != Failed || failed.Problem != "this one never works" || failed.Score != nil {
		t.Errorf("%d trials, number 4 %+v", len(whole), failed)
	}
}

// Another may have queued more trials than this worker was asked for.
func TestWorkEndsWithItsTrials(t *testing.T) {
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
			t.Errorf("of %d trials %d are finished, want %d", c.trials, finished, c.want)
		}
	}
}

func TestReports(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	def := toyStudy()
	def.Goal = Maximize
	study := openStudy(t, store, def)
	var told []string
	w := Worker{
		Objective: func(_ context.Context, t Trial) (float64, error) {
			if t.Number == 2 {
				panic("oh")
			}
			return []float64{1, 3, 0, 2}[t.Number], nil
		},
		Ended: func(r Report) {
			told = append(told, fmt.Sprintf("%d %s of %d/%d best %d", r.Trial.Number, r.Trial.State, r.Finished, r.Trials, r.Best.Number))
		},
	}
	if err := study.Work(t.Context(), 3, w); err != nil {
		t.Fatal(err)
	}
	if err := study.Work(t.Context(), 4, w); err != nil { // more trials of the same study
		t.Fatal(err)
	}
	want := []string{"0 done of 1/3 best 0", "1 done of 2/3 best 1", "2 failed of 3/3 best 1", "3 done of 4/4 best 1"}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told %q", told)
	}
	if p := results(t, store)[2].Problem; !strings.HasPrefix(p, "a bug: oh\n") {
		t.Errorf("problem %q", p)
	}
}

func TestOtherStudiesAreRefused(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	openStudy(t, store, toyStudy())
	openStudy(t, store, toyStudy())
	for _, c := range []struct {
		change func(*Definition)
		want   string
	}{
		{func(d *Definition) { d.Space[1].High = 32 }, "parameter rank is log-integer 1 64 there and log-integer 1 32 here"},
		{func(d *Definition) { d.Space = d.Space[1:] }, `parameter kernel is choice "rbf" "matern32" "periodic:12" there and not given here`},
		{func(d *Definition) { d.Space = append(d.Space, Param{Name: "rate", Kind: Uniform, High: 1}) }, "parameter rate is uniform 0 1 here and not given there"},
		{func(d *Definition) { d.Space[0], d.Space[1] = d.Space[1], d.Space[0] }, "its parameters stand in another order"},
		{func(d *Definition) { d.Goal, d.Seed = Maximize, 2 }, "goal is minimize there and maximize here; seed is 1 there and 2 here"},
		{func(d *Definition) { d.Facts[0].Text = "r2" }, "objective is toy there and r2 here"},
	} {
		def := toyStudy()
		c.change(&def)
		_, err := Open(t.Context(), store, def)
		var other *DefinitionError
		if !errors.As(err, &other) || err.Error() != "this is another study: "+c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// A worker that has nothing to do but wait for one that may have died says so.
func TestWaiting(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "study.db"))
	study := openStudy(t, store, toyStudy())
	if err := store.Grow(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	const lease = time.Second
	if _, _, err := store.Claim(t.Context(), "one that dies", 3, lease); err != nil {
		t.Fatal(err)
	}
	var waited []int
	err := study.Work(t.Context(), 3, Worker{Lease: lease, Objective: scoreToy, Waits: func(held int) { waited = append(waited, held) }})
	if err != nil || !reflect.DeepEqual(waited, []int{1}) {
		t.Errorf("waited %v, %v", waited, err)
	}
}
