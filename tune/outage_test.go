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

// testClock is what the server's clock is in tests of leases: moved by hand, and
// kept in the database, as the server's own is for all workers.
const testClock = "(SELECT at FROM test_clock)"

// openWithClock opens the server's study; the first who does makes the clock.
func openWithClock(t *testing.T, place string) *Postgres {
	t.Helper()
	s, err := OpenPostgres(t.Context(), place, 0)
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

// A server is away for half a lease, as one that is restarted, with another
// quarter gone since the last heartbeat. Of three workers one ends its trial while
// it is away and one after it is back; each trial is run once.
func TestServerAwayForHalfALease(t *testing.T) {
	t.Parallel()
	const trials, lease = 30, 400 * time.Millisecond // a heartbeat each 100 ms
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
		case 5: // ends without a server
			<-begun[6]
			<-begun[8]
			admin.addToClock(t, lease*3/4)
			server.stop()
			close(away)
		case 6: // outlasts it
			<-back
		case 8:
			<-away
		}
		return toy(trial.Values), ctx.Err()
	}
	var all sync.WaitGroup
	var missed sync.WaitGroup // until every worker has met the closed door
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
			err := study.Work(t.Context(), trials, Worker{Lease: lease, Objective: objective, Ended: func(r Report) {
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
		t.Fatalf("%d trials, %v", len(got), err)
	}
	for i, trial := range got {
		if trial.State != Done || *trial.Score != toy(trial.Values) || trial.Attempt != 1 || calls[i].Load() != 1 {
			t.Errorf("run %d times: %+v", calls[i].Load(), trial)
		}
	}
}

// A server that does not come back ends the work with an error that says where it
// was; what had finished is there when it comes back after all.
func TestServerThatStaysAway(t *testing.T) {
	t.Parallel()
	const trials, last = 20, 12
	server := startPostgres(t)
	place := strings.Replace(server.url, "kft@", "kft:secret@", 1)
	store := openWithClock(t, place)
	store.patience = 30 * time.Millisecond
	var calls [trials]int
	worker := Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
		if calls[trial.Number]++; trial.Number == last && calls[last] == 1 {
			server.stop()
		}
		return scoreToy(ctx, trial)
	}}
	err := openStudy(t, store, toyStudy()).Work(t.Context(), trials, worker)
	for _, want := range []string{fmt.Sprintf("trial %d ended as done", last+1), "could not be recorded", PlaceName(place), "gave up after 30ms"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Fatalf("no %q in: %v", want, err)
		}
	}
	server.start(t)
	again := openWithClock(t, place)
	kept, err := again.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, trial := range kept {
		if trial.Finished() != (i < last) {
			t.Errorf("after the outage: %+v", trial)
		}
	}
	again.addToClock(t, 61*time.Second) // the lease of the worker that gave up
	if err := openStudy(t, again, toyStudy()).Work(t.Context(), trials, worker); err != nil {
		t.Fatal(err)
	}
	for i, n := range calls {
		if n != 1 && !(i == last && n == 2) {
			t.Errorf("trial %d was run %d times", i, n)
		}
	}
	undisturbed := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := openStudy(t, undisturbed, toyStudy()).Work(t.Context(), trials, Worker{Objective: scoreToy}); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(printable(results(t, again))), fmt.Sprint(printable(results(t, undisturbed))); got != want {
		t.Errorf("resumed:\n%s\nundisturbed:\n%s", got, want)
	}
}

// A server that is cut off, not stopped, says nothing: connections neither answer
// nor break, also after others can be made again.
func TestServerThatFallsSilent(t *testing.T) {
	t.Parallel()
	server := startPostgres(t)
	wire := newWire(t, filepath.Join(server.folder, ".s.PGSQL.5432"))
	store, err := OpenPostgres(t.Context(), "postgres://kft@/postgres?host="+wire.folder, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	store.try = 200 * time.Millisecond
	err = openStudy(t, store, toyStudy()).Work(t.Context(), 10, Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
		if trial.Number == 5 {
			wire.cut(3)
		}
		return toy(trial.Values), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range results(t, store) {
		if trial.State != Done {
			t.Errorf("%+v", trial)
		}
	}
	if wire.silent.Load() != 0 {
		t.Errorf("%d silent connections were not met", wire.silent.Load())
	}
}

// wire passes connections on to a server, until it is cut.
type wire struct {
	folder string
	silent atomic.Int32 // new connections that will not be answered
	mu     sync.Mutex
	cuts   []func() // of the connections there are
}

func newWire(t *testing.T, server string) *wire {
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
	w := &wire{folder: folder}
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

// join passes bytes both ways, and none when it is cut; an end that is left then
// stays open.
func (w *wire) join(client, far net.Conn) {
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

// cut silences the connections there are and so many new ones.
func (w *wire) cut(next int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent.Store(next)
	for _, cut := range w.cuts {
		cut()
	}
}
