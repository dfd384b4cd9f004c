package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/tune"
)

// Three processes that are started at the same time share one study, which any of them can
// create.
func TestWorkersShareAStudy(t *testing.T) {
	const workers, trials = 3, 18
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	var all []*exec.Cmd
	for i := range workers {
		args := append(slices.Clone(tuneFlags), "--trials", fmt.Sprint(trials), "--worker", "--halving", "sweeps", "--threads", "1", "-o", fmt.Sprintf("best%d.yaml", i))
		cmd := exec.Command(program(t), args...)
		cmd.Stderr = os.Stderr
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("worker %d: %v", i, err)
		}
	}
	record, text := studied(t)
	count, by := map[tune.State]int{}, map[string]int{}
	for i, trial := range record.Trials {
		count[trial.State]++
		by[trial.Worker]++
		if trial.Number != i || !trial.Finished() || trial.Attempt != 1 {
			t.Errorf("%+v", trial)
		}
	}
	t.Logf("%v by %v", count, by)
	if len(record.Trials) != trials || count[tune.Done] < 2 || count[tune.Pruned] < 2 {
		t.Errorf("%d trials:\n%s", len(record.Trials), text)
	}
	for i := range workers {
		if best := read(t, fmt.Sprintf("best%d.yaml", i)); best != read(t, "best0.yaml") || !strings.Contains(best, "transform: "+record.Best.Values["transform"]) {
			t.Errorf("worker %d found\n%s", i, best)
		}
	}
	// A worker can join a finished study; a call without --worker cannot.
	must(t, append(slices.Clone(tuneFlags), "--trials", fmt.Sprint(trials), "--worker", "--halving", "sweeps")...)
	if r := call(t, append(slices.Clone(tuneFlags), "--halving", "sweeps")...); r.code != exitUsage || !strings.Contains(r.stderr, "already contains a study") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
	if r := call(t, append(slices.Clone(tuneFlags), "--worker", "--halving", "none")...); r.code != exitUsage || !strings.Contains(r.stderr, "halving is sweeps in the store and none here") {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}
