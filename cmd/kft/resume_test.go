package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// solverRuns are fits that are long enough to be killed.
var solverRuns = map[string][]string{
	"als":      {"--term", "store,item,time:4", "--term", "store*item", "--sweeps", "12"},
	"cavi":     {"--inference", "mean-field", "--term", "store,item,time:4", "--term", "store*item", "--sweeps", "12", "--conformal", "split"},
	"forecast": {"--inference", "mean-field", "--split", "time:last=2", "--term", "store,item:3", "--term", "series(store*item; time; walk, ar, scale)", "--sweeps", "12", "--conformal", "horizon", "--refit", "all"},
	"adam":     {"--solver", "adam", "--term", "store,item,time:4", "--epochs", "12", "--batch", "0.2", "--ridge", "frequency"},
}

// A fit that is killed five times at random moments and resumed writes the same file as a
// fit without interruption.
func TestKillAndResume(t *testing.T) {
	for solver, flags := range solverRuns {
		t.Run(solver, func(t *testing.T) { killAndResume(t, flags, 1, uint64(len(solver))) })
	}
}

// The same 14 times for each, 280 kills in all, in make attack.
func TestAttackKills(t *testing.T) {
	if os.Getenv("KFT_ATTACK") != "full" {
		t.Skip("part of make attack")
	}
	kills := 0
	for solver, flags := range solverRuns {
		for round := range uint64(14) {
			t.Run(fmt.Sprint(solver, round), func(t *testing.T) { kills += killAndResume(t, flags, round+2, uint64(len(solver))) })
		}
	}
	t.Logf("attack on fits: %d kills with resume, %d fits with the same bytes as without", kills, kills/5)
}

// killAndResume kills a fit five times, resumes it and compares its file with that of a
// fit without interruption. It returns the number of kills.
func killAndResume(t *testing.T, flags []string, seed1, seed2 uint64) int {
	const kills = 5
	kft := program(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	must(t, fitSales(append(flags, "-o", "uninterrupted.kft")...)...)
	random := rand.New(rand.NewPCG(seed1, seed2))
	args := fitSales(append(flags, "-o", "killed.kft", "--checkpoint", "state", "--checkpoint-every", "0s", "--resume")...)
	for kill := range kills {
		line := 1 + random.IntN(9) // reading is the first line, sweeps follow the fifth
		if killedAfter(t, exec.Command(kft, args...), line) {
			continue
		}
		t.Fatalf("kill %d: the fit ended before it was killed at line %d of its progress; the table is too small", kill+1, line)
	}
	if _, err := os.Stat("killed.kft"); err == nil {
		t.Error("a killed fit wrote its model")
	}
	if out, err := exec.Command(kft, args...).CombinedOutput(); err != nil {
		t.Fatalf("resuming: %v\n%s", err, out)
	}
	if read(t, "killed.kft") != read(t, "uninterrupted.kft") {
		t.Error("the file of the resumed fit differs from that of the uninterrupted fit")
	}
	files := slices.DeleteFunc(listing(t), func(file string) bool { return strings.HasPrefix(file, "state/") })
	if fmt.Sprint(files) != "[killed.kft sales.csv uninterrupted.kft]" {
		t.Errorf("left behind: %v", files)
	}
	return kills
}

// killedAfter starts a program, kills it (SIGKILL) after a number of lines of progress, and
// reports whether it was still running then.
func killedAfter(t *testing.T, command *exec.Cmd, lines int) bool {
	t.Helper()
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(stderr)
	for range lines {
		if !scanner.Scan() {
			break
		}
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for scanner.Scan() {
	}
	command.Wait()
	status, ok := command.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// A checkpoint of another fit is an error.
func TestResumeOfAnotherFit(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	fit := fitSales("--sweeps", "2", "--checkpoint", "state")
	must(t, append(fit, "--rank", "2")...)
	r := call(t, append(fit, "--rank", "3", "--resume", "-o", "other.kft")...)
	if r.code != exitFailed || !strings.Contains(r.stderr, "belongs to another fit: the specification differs; choose another folder with --checkpoint, or delete the file") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
	if _, err := os.Stat("other.kft"); err == nil {
		t.Error("a model was written")
	}
}

// The number of threads does not change the file.
func TestThreads(t *testing.T) {
	for solver, flags := range solverRuns {
		t.Run(solver, func(t *testing.T) {
			inEmptyFolder(t)
			writeSales(t, "sales.csv", mediumSales)
			first := ""
			for _, threads := range []string{"1", "2", "8"} {
				file := threads + ".kft"
				must(t, fitSales(append(flags, "--sweeps", "3", "--epochs", "3", "--threads", threads, "-o", file)...)...)
				if text := read(t, file); first == "" {
					first = text
				} else if text != first {
					t.Errorf("the file of %s threads differs from that of 1 thread", threads)
				}
			}
		})
	}
}
