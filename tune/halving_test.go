package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
)

func halvedToy() Definition {
	def := toyStudy()
	def.Rungs = []float64{1. / 9, 1. / 3}
	def.Sampler, def.First = "random", Values{}
	for _, p := range def.Space {
		def.First[p.Name] = p.Nearest("")
	}
	return def
}

// toyAtBudget is closer to toy for larger budgets.
func toyAtBudget(t Trial) float64 { return toy(t.Values) + 0.1*(1-t.Budget)*float64(t.Number%3) }

func TestHalving(t *testing.T) {
	const trials = 40
	run := func(stops ...int) []Trial {
		store := openStore(t, filepath.Join(t.TempDir(), "s.db"))
		study := openStudy(t, store, halvedToy())
		for _, stop := range append(stops, -1) {
			ctx, cancel := context.WithCancel(t.Context())
			err := study.Work(ctx, trials, Worker{Objective: func(_ context.Context, at Trial) (float64, error) {
				if at.Number == stop && at.Budget > 0.2 {
					cancel() // after a rung
				}
				if at.Number == 5 {
					return 0, errors.New("too large")
				}
				return toyAtBudget(at), ctx.Err()
			}})
			cancel()
			if (stop < 0) != (err == nil) {
				t.Fatal(err)
			}
		}
		all := results(t, store)
		for i := range all {
			for k := range all[i].Rungs {
				all[i].Rungs[k].Seconds = 0
			}
		}
		return all
	}
	all := run()
	def := halvedToy()
	if first := all[0]; !reflect.DeepEqual(first.Values, def.First) || first.State != Done || len(first.Rungs) != 2 {
		t.Errorf("first trial: got %+v", first)
	}
	calls, count := 0., map[State]int{}
	var atRung [2][]float64
	for _, o := range all {
		count[o.State]++
		for k, r := range o.Rungs {
			calls += r.Budget
			at := o
			at.Budget = r.Budget
			if r.Budget != def.Rungs[k] || r.Score != toyAtBudget(at) {
				t.Errorf("trial %d, rung %d: got %+v", o.Number, k, r)
			}
			atRung[k] = append(atRung[k], r.Score)
			better := 0
			for _, s := range atRung[k] {
				if s < r.Score {
					better++
				}
			}
			continues := o.Number == 0 || better < (len(atRung[k])+2)/3
			if last := k == len(o.Rungs)-1; last && o.State == Pruned && (continues || *o.Score != r.Score) || (!last || o.State == Done) && !continues {
				t.Errorf("trial %d: got %s at rung %d with %d of %d better", o.Number, o.State, k, better, len(atRung[k]))
			}
		}
		if o.State == Done {
			calls++
			if *o.Score != toy(o.Values) {
				t.Errorf("trial %d: got score %v, want %v", o.Number, *o.Score, toy(o.Values))
			}
		}
	}
	if best := def.Best(all); best == nil || best.State != Done {
		t.Errorf("got best %+v, want a completed trial", best)
	}
	if count[Done] < 2 || count[Pruned] < trials/2 || count[Failed] != 1 || calls > trials*0.6 {
		t.Errorf("got %v with %.1f of %d full budgets", count, calls, trials)
	}
	var stops []int
	for _, o := range all[1:] {
		if len(o.Rungs) == 2 && len(stops) < 4 {
			stops = append(stops, o.Number)
		}
	}
	if again := run(stops...); !reflect.DeepEqual(again, all) {
		t.Errorf("interrupted: got\n%v\nwant\n%v", printable(again), printable(all))
	}
}

func TestPrunedTrialsRankBelowThoseThatContinued(t *testing.T) {
	def := halvedToy()
	score := func(v float64) *float64 { return &v }
	rungs := func(n int) []Rung { return make([]Rung, n) }
	ordered := []Trial{ // best first
		{State: Done, Score: score(5), Rungs: rungs(2)},
		{State: Done, Score: score(9), Rungs: rungs(2)},
		{State: Pruned, Score: score(2), Rungs: rungs(2)},
		{State: Pruned, Score: score(3), Rungs: rungs(2)},
		{State: Pruned, Score: score(1), Rungs: rungs(1)},
		{State: Failed, Rungs: rungs(2)},
	}
	seen := func(o Trial) Observation { return Observation{Loss: def.loss(o), Rung: def.rungsReached(o)} }
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := seen(a).compare(seen(b)), max(-1, min(1, i-j)); got != want {
				t.Errorf("%d compared with %d: got %d, want %d", i, j, got, want)
			}
		}
	}
}

// The rungs of a lost attempt are discarded.
func TestRungsOfLostAttempt(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { recordRungsTwice(t, openStore(t, filepath.Join(t.TempDir(), "s.db"))) })
	t.Run("PostgreSQL", func(t *testing.T) {
		s, err := OpenPostgres(t.Context(), startPostgres(t).url, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		recordRungsTwice(t, s)
	})
}

func recordRungsTwice(t *testing.T, s Store) {
	ctx := t.Context()
	if err := s.Grow(ctx, 1); err != nil {
		t.Fatal(err)
	}
	first := claim(t, s, "a")
	first.Rungs = []Rung{{0.1, 1.5, 2}, {0.3, 1. / 3, 4}}
	if err := s.RecordRungs(ctx, first); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Trials(ctx); err != nil || !reflect.DeepEqual(all[0].Rungs, first.Rungs) {
		t.Fatalf("got %+v, %v, want rungs %+v", all, err, first.Rungs)
	}
	if err := s.Release(ctx, first); err != nil {
		t.Fatal(err)
	}
	second := claim(t, s, "b")
	if err := s.RecordRungs(ctx, first); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("trial of another worker: got error %v, want ErrLeaseLost", err)
	}
	if all, err := s.Trials(ctx); err != nil || all[0].Rungs != nil {
		t.Errorf("got %+v, %v, want no rungs", all, err)
	}
	score := 0.5
	second.State, second.Score, second.Rungs = Pruned, &score, first.Rungs[:1]
	if err := errors.Join(s.RecordRungs(ctx, Trial{Number: 0, Attempt: 2, Rungs: second.Rungs}), s.Finish(ctx, second)); err != nil {
		t.Fatal(err)
	}
	all, err := s.Trials(ctx)
	if err != nil || all[0].State != Pruned || len(all[0].Rungs) != 1 || *all[0].Score != score {
		t.Errorf("got %+v, %v, want a pruned trial with one rung", all, err)
	}
}

// A study of an older schema version is rejected with a clear message.
func TestOlderStudies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	if err := openStore(t, file).Close(); err != nil {
		t.Fatal(err)
	}
	alter(t, "sqlite", file, "PRAGMA user_version = 1")
	if _, err := OpenSQLite(t.Context(), file, time.Second); err == nil || !strings.Contains(err.Error(), "the study has version 1, but this program supports version 2") {
		t.Error(err)
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		location := startPostgres(t).url
		s, err := OpenPostgres(t.Context(), location, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		alter(t, "pgx", location, "ALTER TABLE kft_trial DROP COLUMN rungs")
		if _, err := OpenPostgres(t.Context(), location, time.Second); err == nil || !strings.Contains(err.Error(), "created by an older version") {
			t.Error(err)
		}
	})
}

func alter(t *testing.T, driver, location, command string) {
	t.Helper()
	db, err := sql.Open(driver, location)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(command); err != nil {
		t.Fatal(err)
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		p          Param
		text, want string
	}{
		{Param{Kind: Choice, Choices: []string{"a", "b"}}, "b", "b"},
		{Param{Kind: Choice, Choices: []string{"a", "b"}}, "auto", "a"},
		{Param{Kind: Choice, Choices: []string{"x", "32", "8"}}, "10", "8"},
		{Param{Kind: LogInteger, Low: 4, High: 64}, "100", "64"},
		{Param{Kind: Integer, Low: 4, High: 3e6}, "2000000", "2000000"},
		{Param{Kind: LogUniform, Low: 0.001, High: 0.1}, "0.0001", "0.001"},
		{Param{Kind: LogUniform, Low: 0.01, High: 100}, "auto", "1"},
	} {
		if got := c.p.Nearest(c.text); got != c.want {
			t.Errorf("%v nearest to %s: got %s, want %s", c.p, c.text, got, c.want)
		}
		if _, err := c.p.coordinate(c.p.Nearest(c.text)); err != nil {
			t.Error(fmt.Errorf("%v nearest to %s: %w", c.p, c.text, err))
		}
	}
}
