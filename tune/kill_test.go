package tune

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

const (
	killWorkers = 8
	killTrials  = 200
	killKills   = 20
	// killLocation is an environment variable that makes the test binary a worker of
	// the study at the location.
	killLocation = "KFT_TUNE_TEST_STUDY"
)

func TestMain(m *testing.M) {
	if location := os.Getenv(killLocation); location != "" {
		if err := runReportingWorker(location); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runReportingWorker runs a worker that prints a line when it starts a trial and
// when it ends one.
func runReportingWorker(location string) error {
	ctx := context.Background()
	store, err := OpenStore(ctx, location, 0)
	if err != nil {
		return err
	}
	defer store.Close()
	study, err := Open(ctx, store, toyStudy())
	if err != nil {
		return err
	}
	return study.Work(ctx, killTrials, Worker{
		Name:  fmt.Sprint(os.Getpid()),
		Lease: 2 * time.Second,
		Objective: func(ctx context.Context, t Trial) (float64, error) {
			wait(ctx, time.Duration(5+t.Number%4*5)*time.Millisecond) // so that a kill can hit a running trial
			return toy(t.Values), ctx.Err()
		},
		OnStart: func(t Trial) { fmt.Println("begin", t.Number, t.Attempt) },
		OnEnd: func(r Report) {
			what := "end"
			if r.Lost {
				what = "lost"
			}
			fmt.Println(what, r.Trial.Number, r.Trial.Attempt)
		},
	})
}

// message is a line printed by a worker, or its exit.
type message struct {
	worker          int
	what            string
	number, attempt int
	err             error
}

// start runs a worker process and sends its lines to messages.
func start(t *testing.T, location string, worker int, messages chan<- message) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killLocation+"="+location)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			s := message{worker: worker}
			if _, err := fmt.Sscan(lines.Text(), &s.what, &s.number, &s.attempt); err == nil {
				messages <- s
			}
		}
		messages <- message{worker: worker, what: "exit", err: cmd.Wait()}
	}()
	return cmd
}

// Eight worker processes share 200 trials. Twenty times, one of them is killed as
// it starts or ends a trial, and restarted.
func TestKilledWorkersLoseNothing(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); testKills(t, filepath.Join(t.TempDir(), "s.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { t.Parallel(); testKills(t, startPostgres(t).url) })
}

func testKills(t *testing.T, location string) {
	messages := make(chan message)
	workers := make([]*exec.Cmd, killWorkers)
	killed := make([]bool, killWorkers)
	for i := range workers {
		workers[i] = start(t, location, i, messages)
	}
	draw := randstream.New(1, "test kills")
	next := draw.IntN(8)
	begun, ended := map[[2]int]bool{}, map[int]bool{}
	kills, lost := 0, 0
	for live := killWorkers; live > 0; {
		s := <-messages
		switch s.what {
		case "begin":
			if claim := [2]int{s.number, s.attempt}; begun[claim] {
				t.Errorf("two workers started trial %d, attempt %d", s.number, s.attempt)
			} else {
				begun[claim] = true
			}
		case "end":
			if ended[s.number] {
				t.Errorf("trial %d was finished twice", s.number)
			}
			ended[s.number] = true
		case "lost":
			lost++
		case "exit":
			live--
			if !killed[s.worker] {
				if s.err != nil {
					t.Errorf("worker %d: %v", s.worker, s.err)
				}
				continue
			}
			killed[s.worker] = false
			workers[s.worker] = start(t, location, s.worker, messages)
			live++
			continue
		}
		if next--; next < 0 && kills < killKills && !killed[s.worker] {
			if err := workers[s.worker].Process.Kill(); err != nil {
				t.Fatal(err)
			}
			killed[s.worker] = true
			kills++
			next = draw.IntN(20)
		}
	}
	if kills != killKills {
		t.Fatalf("got %d kills, want %d", kills, killKills)
	}
	store, err := OpenStore(t.Context(), location, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	all, err := store.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	points := map[string]bool{}
	again := 0
	for i, trial := range all {
		points[fmt.Sprint(trial.Values)] = true
		again += trial.Attempt - 1
		if trial.Number != i || trial.State != Done || *trial.Score != toy(trial.Values) {
			t.Errorf("trial %d: got %+v, want it done with its score", i, trial)
		}
	}
	t.Logf("%d trials, %d distinct, %d restarted after %d kills, %d leases lost to a slow machine", len(all), len(points), again, kills, lost)
	if len(all) != killTrials || len(points) != killTrials {
		t.Errorf("got %d trials, %d of them distinct, want %d", len(all), len(points), killTrials)
	}
	// A kill costs at most one attempt of its own trial.
	if again == 0 || again > kills+lost {
		t.Errorf("got %d restarted trials after %d kills and %d lost leases", again, kills, lost)
	}
	if len(ended) < killTrials-kills {
		t.Errorf("got %d reported ends, want at least %d", len(ended), killTrials-kills)
	}
}
