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

	"github.com/kernel-fried-tensor/kft/internal/stream"
)

const (
	killWorkers = 8
	killTrials  = 200
	killKills   = 20
	// killPlace, in the environment, makes the test binary a worker of the study
	// at the place.
	killPlace = "KFT_TUNE_TEST_STUDY"
)

func TestMain(m *testing.M) {
	if place := os.Getenv(killPlace); place != "" {
		if err := workAndTell(place); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// workAndTell is a worker that prints a line when it begins a trial and one when
// it has ended it.
func workAndTell(place string) error {
	ctx := context.Background()
	store, err := OpenStore(ctx, place, 0)
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
			wait(ctx, time.Duration(5+t.Number%4*5)*time.Millisecond) // so that a kill can meet it at work
			return toy(t.Values), ctx.Err()
		},
		Begun: func(t Trial) { fmt.Println("begin", t.Number, t.Attempt) },
		Ended: func(r Report) {
			what := "end"
			if r.Lost {
				what = "lost"
			}
			fmt.Println(what, r.Trial.Number, r.Trial.Attempt)
		},
	})
}

// said is a line of a worker, or its end.
type said struct {
	worker          int
	what            string
	number, attempt int
	err             error
}

// start runs a worker process whose lines go to heard.
func start(t *testing.T, place string, worker int, heard chan<- said) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killPlace+"="+place)
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
			s := said{worker: worker}
			if _, err := fmt.Sscan(lines.Text(), &s.what, &s.number, &s.attempt); err == nil {
				heard <- s
			}
		}
		heard <- said{worker: worker, what: "exit", err: cmd.Wait()}
	}()
	return cmd
}

// Eight worker processes share 200 trials, and 20 times one of them is killed,
// as it begins a trial or as it ends one, and started again.
func TestKilledWorkersLoseNothing(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { t.Parallel(); killSome(t, filepath.Join(t.TempDir(), "s.db")) })
	t.Run("PostgreSQL", func(t *testing.T) { t.Parallel(); killSome(t, startPostgres(t).url) })
}

func killSome(t *testing.T, place string) {
	heard := make(chan said)
	workers := make([]*exec.Cmd, killWorkers)
	killed := make([]bool, killWorkers)
	for i := range workers {
		workers[i] = start(t, place, i, heard)
	}
	draw := stream.New(1, "test kills")
	next := draw.IntN(8)
	begun, ended := map[[2]int]bool{}, map[int]bool{}
	kills, lost := 0, 0
	for live := killWorkers; live > 0; {
		s := <-heard
		switch s.what {
		case "begin":
			if claim := [2]int{s.number, s.attempt}; begun[claim] {
				t.Errorf("two workers began trial %d, attempt %d", s.number, s.attempt)
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
			workers[s.worker] = start(t, place, s.worker, heard)
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
		t.Fatalf("%d kills", kills)
	}
	store, err := OpenStore(t.Context(), place, 0)
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
			t.Errorf("trial %d: %+v", i, trial)
		}
	}
	t.Logf("%d trials, %d distinct, %d begun again after %d kills, %d leases lost to a slow machine", len(all), len(points), again, kills, lost)
	if len(all) != killTrials || len(points) != killTrials {
		t.Errorf("%d trials, %d of them distinct, want %d", len(all), len(points), killTrials)
	}
	// A kill costs its own trial an attempt at most, and no other.
	if again == 0 || again > kills+lost {
		t.Errorf("%d trials were begun again after %d kills and %d lost leases", again, kills, lost)
	}
	if len(ended) < killTrials-kills {
		t.Errorf("only %d ends were told", len(ended))
	}
}
