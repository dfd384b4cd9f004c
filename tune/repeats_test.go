package tune

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// A space of six points gives six different trials; further ones repeat results without
// being run.
func TestTrialsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for _, sampler := range Samplers() {
		def := Definition{Space: Space{{Name: "a", Kind: Integer, Low: 1, High: 3}, {Name: "b", Kind: Choice, Choices: []string{"x", "y"}}}, Goal: Minimize, Sampler: sampler, Seed: 1}
		store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
		var w Worker
		runs, repeated := map[string]int{}, 0
		w.Objective = func(_ context.Context, t Trial) (float64, error) {
			runs[w.keyOf(t.Values)]++
			return t.Values.Float("a"), nil
		}
		w.OnEnd = func(r Report) {
			if r.Same != nil {
				repeated++
				if *r.Same.Score != *r.Trial.Score || r.Trial.State != Done {
					t.Errorf("%+v is said to repeat %+v", r.Trial, r.Same)
				}
			}
		}
		if err := openStudy(t, store, def).Work(t.Context(), 15, w); err != nil {
			t.Fatal(err)
		}
		if len(runs) != 6 || repeated != 9 {
			t.Errorf("%s: %d different trials and %d repeated ones, want 6 and 9", sampler, len(runs), repeated)
		}
		for values, n := range runs {
			if n != 1 {
				t.Errorf("%s: %s was run %d times", sampler, values, n)
			}
		}
	}
}

// Values that mean the same are one trial.
func TestTrialKey(t *testing.T) {
	t.Parallel()
	def := Definition{Space: Space{{Name: "used", Kind: Choice, Choices: []string{"yes", "no"}}, {Name: "rank", Kind: Integer, Low: 1, High: 4}}, Goal: Minimize, Sampler: "random", Seed: 1}
	key := func(v Values) string {
		if v["used"] == "no" {
			return "unused"
		}
		return v["rank"]
	}
	unused := 0
	objective := func(_ context.Context, t Trial) (float64, error) {
		if key(t.Values) == "unused" {
			unused++
		}
		return 1, nil
	}
	if err := openStudy(t, openStore(t, filepath.Join(t.TempDir(), "s.db")), def).Work(t.Context(), 12, Worker{Objective: objective, Key: key}); err != nil {
		t.Fatal(err)
	}
	if unused != 1 {
		t.Errorf("the same trial was run %d times", unused)
	}
}

func TestConnectionString(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]bool{
		"host=/var/run/postgresql dbname=kft": true,
		"dbname = kft":                        true,
		"postgres://h/db":                     true,
		"study.db":                            false,
		"./host=1":                            false,
		"trials=3.db":                         false,
	} {
		if got := IsPostgres(location); got != want {
			t.Errorf("%q: got %v", location, got)
		}
	}
	for location, want := range map[string]string{
		"host=h password=secret dbname=kft":       "host=h password=xxxxx dbname=kft",
		`host=h password = 'se\'cret x' dbname=k`: "host=h password=xxxxx dbname=k",
	} {
		if got := RedactedLocation(location); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	_, err := OpenPostgres(t.Context(), "host=h password=secret sslmode=bad", 1)
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "invalid connection string") {
		t.Errorf("got %v", err)
	}
}
