package tune

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clock replaces the database clock with one that tests advance.
type clock struct {
	at time.Time
	s  *SQLite
}

func (c *clock) add(d time.Duration) {
	c.at = c.at.Add(d)
	c.s.now = fmt.Sprint(c.at.UnixMilli())
}

func newClock(s *SQLite) *clock {
	c := &clock{time.Unix(1_800_000_000, 0), s}
	c.add(0)
	return c
}

func claim(t *testing.T, s Store, worker string) Trial {
	t.Helper()
	trial, _, err := s.Claim(t.Context(), worker, 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return trial
}

func TestLeases(t *testing.T) {
	ctx := t.Context()
	s := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	c := newClock(s)
	if err := s.Grow(ctx, 2); err != nil {
		t.Fatal(err)
	}
	a, b := claim(t, s, "a"), claim(t, s, "b")
	if a.Number != 0 || b.Number != 1 || claim(t, s, "c").Attempt != 0 {
		t.Fatalf("got a %+v, b %+v, want trials 0 and 1 and no third", a, b)
	}
	a.Values = Values{"x": "1"}
	if err := s.Assign(ctx, a); err != nil {
		t.Fatal(err)
	}
	c.add(50 * time.Second)
	if err := s.RenewLease(ctx, b, time.Minute); err != nil {
		t.Fatal(err)
	}
	c.add(20 * time.Second) // a's lease has expired, b's has not
	again := claim(t, s, "c")
	if again.Number != 0 || again.Attempt != 2 || again.Values["x"] != "1" {
		t.Fatalf("got %+v for c, want attempt 2 of trial 0 with its values", again)
	}
	score := 0.5
	a.State, a.Score = Done, &score
	for what, err := range map[string]error{"beat": s.RenewLease(ctx, a, time.Minute), "finish": s.Finish(ctx, a), "assign": s.Assign(ctx, a), "release": s.Release(ctx, a)} {
		if !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%s after losing the lease: got error %v, want ErrLeaseLost", what, err)
		}
	}
	again.State, again.Score = Done, &score
	for range 2 { // the second call retries after a lost response
		if err := s.Finish(ctx, again); err != nil {
			t.Fatal(err)
		}
	}
	other := 0.7
	again.Score = &other
	if err := s.Finish(ctx, again); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("different result for a finished trial: got error %v, want ErrLeaseLost", err)
	}
	if err := s.Release(ctx, b); err != nil {
		t.Fatal(err)
	}
	if d := claim(t, s, "d"); d.Number != 1 || d.Attempt != 2 {
		t.Errorf("got %+v for d, want attempt 2 of trial 1", d)
	}
}

func TestTrialThatKillsWorkersFails(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	c := newClock(s)
	if err := s.Grow(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for range 7 { // a release does not count as a death
		if err := s.Release(t.Context(), claim(t, s, "a")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxDeaths {
		if got := claim(t, s, "b"); got.Attempt != 8+i {
			t.Fatalf("got attempt %d after %d deaths, want %d", got.Attempt, i, 8+i)
		}
		c.add(2 * time.Minute)
	}
	got, unfinished, err := s.Claim(t.Context(), "b", 100, time.Minute)
	if err != nil || got.Attempt != 0 || unfinished != 0 {
		t.Fatalf("got %+v, %d unfinished, %v, want no trial", got, unfinished, err)
	}
	all, err := s.Trials(t.Context())
	if err != nil || all[0].State != Failed || !strings.Contains(all[0].Problem, "5 workers died") {
		t.Errorf("got %+v, %v, want a failed trial", all[0], err)
	}
}

func TestBusyDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.db")
	s := openStore(t, file)
	other, err := sql.Open("sqlite", "file:"+file+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	s.patience = time.Millisecond
	if _, err := s.db.Exec("PRAGMA busy_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Grow(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "gave up after 1ms") || !strings.Contains(err.Error(), "locked") {
		t.Errorf("locked database: got error %v", err)
	}
	s.patience = time.Minute
	ended := make(chan error)
	go func() { ended <- s.Grow(context.Background(), 3) }()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("temporarily locked database: got error %v, want none", err)
	}
}

func TestFullDisk(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := s.Grow(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 1"); err != nil { // SQLite then reports a full disk
		t.Fatal(err)
	}
	s.patience = time.Millisecond
	if err := s.Grow(t.Context(), 100_000); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("full disk: got error %v", err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, s, "a"); got.Attempt != 1 {
		t.Errorf("after a full disk: got %+v, want attempt 1", got)
	}
}

func TestOpenSQLiteRejectsOtherFiles(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "table.csv")
	if err := os.WriteFile(text, []byte(strings.Repeat("store,item,units\n", 100)), 0o666); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(folder, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE kft_trial (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(folder, "newer.db")
	s := openStore(t, newer)
	if _, err := s.db.Exec("PRAGMA user_version = 9"); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		text:                             "not a study or any other database",
		foreign:                          "a database, but not a study",
		newer:                            "the study has version 9",
		filepath.Join(folder, "no/s.db"): "does not exist",
		folder:                           "unable to open",
	} {
		_, err := OpenSQLite(t.Context(), file, time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: got error %v, want one with %q", file, err, want)
		}
	}
	if content, _ := os.ReadFile(text); !strings.HasPrefix(string(content), "store,item") {
		t.Error("the text file was changed")
	}
	if after, _ := os.ReadFile(foreign); !bytes.Equal(before, after) {
		t.Error("the foreign database was changed")
	}
}
