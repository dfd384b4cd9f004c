package tune

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testClock replaces the clock of the server. Tests advance it. It is kept in the
// database, so that all workers share it.
const testClock = "(SELECT at FROM test_clock)"

// openWithClock opens the study of the server and creates the clock if missing.
func openWithClock(t *testing.T, location string) *Postgres {
	t.Helper()
	s, err := OpenPostgres(t.Context(), location, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.now = testClock
	if _, err := s.db.Exec("CREATE TABLE IF NOT EXISTS test_clock AS SELECT 1800000000000 AS at"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Postgres) addToClock(t *testing.T, d time.Duration) {
	if _, err := s.db.Exec("UPDATE test_clock SET at = at + $1", d.Milliseconds()); err != nil {
		t.Error(err)
	}
}

// The server is unavailable for half a lease, as during a restart, a quarter of a
// lease after the last heartbeat. One of three workers ends its trial during the
// outage and one after it. Each trial runs once.
func TestServerAwayForHalfALease(t *testing.T) {
	t.Parallel()
	const trials, lease = 30, 400 * time.Millisecond // a heartbeat every 100 ms
	server := startPostgres(t)
	admin := openWithClock(t, server.url)
	begun := map[int]chan struct{}{6: make(chan struct{}), 8: make(chan struct{})}
	away, back := make(chan struct{}), make(chan struct{})
	var calls [trials]atomic.Int32
	objective := func(ctx context.Context, trial Trial) (float64, error) {
		if calls[trial.Number].Add(1) > 1 {
			return toy(trial.Values), ctx.Err()
		}
		if c := begun[trial.Number]; c != nil {
			close(c)
		}
		switch trial.Number {
		case 5: // ends during the outage
			<-begun[6]
			<-begun[8]
			admin.addToClock(t, lease*3/4)
			server.stop()
			close(away)
		case 6: // ends after the outage
			<-back
		case 8:
			<-away
		}
		return toy(trial.Values), ctx.Err()
	}
	var all sync.WaitGroup
	var missed sync.WaitGroup // until every worker has noticed the outage
	for range 3 {
		store := openWithClock(t, server.url)
		missed.Add(1)
		var once sync.Once
		store.transient = func(err error) bool {
			once.Do(missed.Done)
			return postgresTransient(err)
		}
		study := openStudy(t, store, toyStudy())
		all.Go(func() {
			err := study.Work(t.Context(), trials, Worker{Lease: lease, Objective: objective, OnEnd: func(r Report) {
				if r.Lost {
					t.Errorf("trial %d was lost", r.Trial.Number)
				}
			}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-away
	missed.Wait()
	server.start(t)
	close(back)
	all.Wait()
	got, err := admin.Trials(t.Context())
	if err != nil || len(got) != trials {
		t.Fatalf("got %d trials, %v, want %d", len(got), err, trials)
	}
	for i, trial := range got {
		if trial.State != Done || *trial.Score != toy(trial.Values) || trial.Attempt != 1 || calls[i].Load() != 1 {
			t.Errorf("got %d runs of %+v, want one successful attempt", calls[i].Load(), trial)
		}
	}
}

// If the server stays unavailable, the work ends with an error that names the
// location. Finished trials are still there when the server returns.
func TestServerStaysAway(t *testing.T) {
	t.Parallel()
	const trials, last = 20, 12
	server := startPostgres(t)
	location := strings.Replace(server.url, "kft@", "kft:secret@", 1)
	store := openWithClock(t, location)
	store.patience = 30 * time.Millisecond
	var calls [trials]int
	worker := Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
		if calls[trial.Number]++; trial.Number == last && calls[last] == 1 {
			server.stop()
		}
		return scoreToy(ctx, trial)
	}}
	err := openStudy(t, store, toyStudy()).Work(t.Context(), trials, worker)
	for _, want := range []string{fmt.Sprintf("trial %d ended as done", last+1), "could not be recorded", RedactedLocation(location), "gave up after 30ms"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Fatalf("got error %v, want it to contain %q and no password", err, want)
		}
	}
	server.start(t)
	again := openWithClock(t, location)
	kept, err := again.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range kept {
		if trial.Finished() != (i < last) {
			t.Errorf("after the outage: got finished %v for trial %+v", trial.Finished(), trial)
		}
	}
	again.addToClock(t, 61*time.Second) // the lease of the worker that gave up
	if err := openStudy(t, again, toyStudy()).Work(t.Context(), trials, worker); err != nil {
		t.Fatal(err)
	}
	for i, n := range calls {
		if n != 1 && !(i == last && n == 2) {
			t.Errorf("trial %d: got %d runs", i, n)
		}
	}
	undisturbed := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := openStudy(t, undisturbed, toyStudy()).Work(t.Context(), trials, Worker{Objective: scoreToy}); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(printable(results(t, again))), fmt.Sprint(printable(results(t, undisturbed))); got != want {
		t.Errorf("resumed: got\n%s\nwant\n%s", got, want)
	}
}

// A server that is cut off by the network does not answer: its connections neither
// respond nor break, even after new ones can be made.
func TestUnresponsiveServer(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	proxy := newProxy(t, filepath.Join(server.folder, ".s.PGSQL.5432"))
	store, err := OpenPostgres(t.Context(), "postgres://kft@/postgres?host="+proxy.folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	store.attemptTimeout = 200 * time.Millisecond
	err = openStudy(t, store, toyStudy()).Work(t.Context(), 10, Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
		if trial.Number == 5 {
			proxy.cut(3)
		}
		return toy(trial.Values), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range results(t, store) {
		if trial.State != Done {
			t.Errorf("got %+v, want it done", trial)
		}
	}
	if proxy.silent.Load() != 0 {
		t.Errorf("%d silent connections were not used", proxy.silent.Load())
	}
}

// proxy forwards connections to a server until it is cut.
type proxy struct {
	folder string
	silent atomic.Int32 // new connections that will not be answered
	mu     sync.Mutex
	cuts   []func() // cut the existing connections
}

func newProxy(t *testing.T, server string) *proxy {
	folder, err := os.MkdirTemp("", "kft")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w := &proxy{folder: folder}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { client.Close() })
			if w.silent.Load() > 0 {
				w.silent.Add(-1)
				continue
			}
			far, err := net.Dial("unix", server)
			if err != nil {
				client.Close()
				continue
			}
			w.join(client, far)
		}
	}()
	return w
}

// join forwards bytes in both directions until it is cut. After that, both ends
// stay open.
func (w *proxy) join(client, far net.Conn) {
	var isCut atomic.Bool
	pass := func(to, from net.Conn) {
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			if isCut.Load() {
				return
			}
			if err == nil {
				_, err = to.Write(buffer[:n])
			}
			if err != nil {
				to.Close()
				return
			}
		}
	}
	go pass(far, client)
	go pass(client, far)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cuts = append(w.cuts, func() { isCut.Store(true) })
}

// cut silences the existing connections and the given number of new ones.
func (w *proxy) cut(next int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent.Store(next)
	for _, cut := range w.cuts {
		cut()
	}
}
