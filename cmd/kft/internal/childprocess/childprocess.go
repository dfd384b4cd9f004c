// Package childprocess runs the parts of an experiment as child processes: the program with
// the verbs split, tune and fit.
package childprocess

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A Runner runs each part of an experiment as a separate process of this program, so that
// time and memory are measured separately and a crash does not end the experiment. It
// implements experiment.Runner.
type Runner struct {
	Program string    // path of the program
	Threads int       // per process; 0 for all CPUs
	Quiet   bool      // show no progress of tuning
	Stderr  io.Writer // progress of tuning
}

// child runs the program and returns its standard output. The memory of this process must
// be small: on Linux the peak memory of a new process starts at that of its parent.
func (r *Runner) child(ctx context.Context, show io.Writer, args ...string) ([]byte, experiment.Usage, error) {
	command := exec.CommandContext(ctx, r.Program, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second // then it is killed
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, io.MultiWriter(&stderr, show)
	endWithParent(command)
	runtime.LockOSThread() // the death signal is sent when the starting thread ends
	defer runtime.UnlockOSThread()
	began := time.Now()
	err := command.Run()
	used := experiment.Usage{Seconds: time.Since(began).Seconds()}
	if state := command.ProcessState; state != nil {
		used.CPU = (state.UserTime() + state.SystemTime()).Seconds()
		used.PeakRSS = peakOf(state)
	}
	if err == nil {
		return stdout.Bytes(), used, nil
	}
	if text := lastLine(stderr.String()); text != "" && exited(err) {
		err = errors.New(strings.TrimPrefix(text, "kft: "))
	} else if killed := signalOf(command.ProcessState); killed != "" {
		err = fmt.Errorf("ended by the signal %s%s", killed, killedHint(killed))
	}
	return nil, used, err
}

// killedHint explains the signal of the out-of-memory killer.
func killedHint(signal string) string {
	if signal == "killed" {
		return " (possibly out of memory)"
	}
	return ""
}

func exited(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Exited()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// Split writes the parts of the rows of a table.
func (r *Runner) Split(ctx context.Context, data spec.Data, split experiment.Split, to string) error {
	args := []string{"split", "--split=" + split.Split, "--seed=" + strconv.FormatUint(split.Seed, 10), "--force", "--output=" + to,
		"--target=" + data.Target, "--duplicates=" + data.Duplicates, "--delimiter=" + data.Delimiter, "--header=" + data.Header}
	if data.Weight != "" {
		args = append(args, "--weight="+data.Weight)
	}
	if data.Exposure != "" {
		args = append(args, "--exposure="+data.Exposure)
	}
	if data.Censored != "" {
		args = append(args, "--censored="+data.Censored)
	}
	for _, m := range data.Modes {
		args = append(args, "--modes="+m)
	}
	_, _, err := r.child(ctx, io.Discard, append(append(args, "--"), data.Files...)...)
	return err
}

// Tune runs or continues a study and returns its best values.
func (r *Runner) Tune(ctx context.Context, task experiment.TuneTask) (map[string]string, experiment.Usage, error) {
	args := []string{"tune", "--spec=" + task.Spec, "--trials=" + strconv.Itoa(task.Trials), "--objective=" + task.Objective, "--sampler=" + task.Sampler,
		"--study=" + task.Study, "--output=" + task.Best, "--threads=" + strconv.Itoa(r.Threads)}
	if task.Halving != "" {
		args = append(args, "--halving="+task.Halving)
	}
	begun, seconds, err := studyBegun(ctx, task.Study)
	if err != nil {
		return nil, task.Used, err
	}
	if begun {
		args = append(args, "--resume")
	}
	before := task.Used
	before.Seconds = max(before.Seconds, seconds) // of a killed run only the times of its trials are known
	show := r.Stderr
	if r.Quiet {
		args, show = append(args, "--quiet"), io.Discard
	}
	_, used, err := r.child(ctx, show, args...)
	used = before.Add(used)
	if err != nil {
		return nil, used, err
	}
	store, err := tune.OpenStore(ctx, task.Study, 0)
	if err != nil {
		return nil, used, err
	}
	defer store.Close()
	record, err := tune.Read(ctx, store)
	if err != nil {
		return nil, used, err
	}
	return record.Best.Values, used, nil
}

// studyBegun reports whether a file contains a study, and how long its finished trials
// took.
func studyBegun(ctx context.Context, file string) (begun bool, seconds float64, err error) {
	if _, err := os.Stat(file); err != nil {
		return false, 0, nil
	}
	store, err := tune.OpenStore(ctx, file, 0)
	if err != nil {
		return false, 0, err
	}
	defer store.Close()
	definition, err := store.Definition(ctx)
	if err != nil || definition == "" {
		return false, 0, err
	}
	trials, err := store.Trials(ctx)
	for _, t := range trials {
		if t.Finished() && !t.Began.IsZero() {
			seconds += t.Ended.Sub(t.Began).Seconds()
		}
	}
	return true, seconds, err
}

// Fit trains and evaluates a model.
func (r *Runner) Fit(ctx context.Context, spec, modelFile string) (experiment.Fitted, error) {
	if modelFile == "" {
		modelFile = os.DevNull
	}
	out, used, err := r.child(ctx, io.Discard, "fit", "--spec="+spec, "--json", "--quiet", "--output="+modelFile, "--threads="+strconv.Itoa(r.Threads))
	fitted := experiment.Fitted{Usage: used}
	if err != nil {
		return fitted, err
	}
	var report struct {
		Valid, Test experiment.Measures
		Baseline    []model.BaselineScores
		Stop        solver.Stop
		PeakRSS     int64 `json:"peak_rss_bytes"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return fitted, fmt.Errorf("invalid report of kft fit: %w", err)
	}
	if report.Stop == solver.Interrupted {
		return fitted, errors.New("interrupted before training ended")
	}
	if fitted.PeakRSS == 0 {
		fitted.PeakRSS = report.PeakRSS
	}
	fitted.Valid, fitted.Test = report.Valid, report.Test
	if best, ok := (model.Record{Baseline: report.Baseline}).BestFormula(); ok {
		fitted.Formula = &experiment.Formula{Name: best.Name, RMSE: best.Test.RMSE, MAE: best.Test.MAE}
	}
	return fitted, nil
}
