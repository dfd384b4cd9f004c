package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/spec"
)

// rankVerbs are the verbs that several processes of MPI run together. The processes of other
// verbs know nothing of each other, as the workers of kft tune.
var rankVerbs = []string{"fit", "predict", "evaluate", "forecast"}

// launch runs the program, as one of several processes if a launcher of MPI started it as such.
func launch(ctx context.Context, getenv func(string) string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	started, launched := mpi.Launched(getenv)
	if !launched || started.Size == 1 || !slices.ContainsFunc(args[:min(1, len(args))], func(verb string) bool { return slices.Contains(rankVerbs, verb) }) {
		return run(ctx, args, stdin, stdout, stderr)
	}
	world, err := mpi.Start(getenv)
	if err != nil {
		if started.Rank == 0 {
			complain(stderr, err, nil)
		} else {
			time.Sleep(failureGrace) // the launcher ends rank 0, which informs, as soon as another rank fails
		}
		return exitUsage
	}
	r := &ranks{World: world, interrupted: ctx, stderr: stderr}
	if r.Rank() > 0 {
		stdin, stdout, stderr = strings.NewReader(""), io.Discard, io.Discard
	}
	code := exitUsage
	if err := r.greet(getenv, args); err != nil {
		complain(stderr, err, nil)
	} else {
		code = runOn(ctx, r, args, stdin, stdout, stderr)
		r.Barrier()
		r.watch.Stop()
	}
	r.Finalize()
	return code
}

// timeoutVariable is the environment variable with the time after which a rank without a sign of
// life ends the job.
const timeoutVariable = "KFT_MPI_TIMEOUT"

// defaultTimeout is that time if the variable is not set.
const defaultTimeout = 30 * time.Second

// ranks are the processes of a job of MPI.
type ranks struct {
	*mpi.World
	interrupted context.Context
	stderr      io.Writer // of this process
	place       mpi.Placement
	watch       *mpi.Watch

	calls    time.Duration // in calls of the library, with waiting
	received int64         // bytes from others
}

// count adds a message to those of this process.
func (r *ranks) count(received int, pass func()) {
	began := time.Now()
	pass()
	r.calls += time.Since(began)
	r.received += int64(received)
}

// Traffic returns what this process received so far, the time that it spent for messages and in waiting for
// others, the CPU time of that, and the CPU time of the process.
func (r *ranks) Traffic() (bytes int64, calls, cpu, process time.Duration) {
	cpu, process = r.CPUTime()
	return r.received, r.calls, cpu, process
}

// Broadcast, Gather, Send, Receive and Exchange implement backend.Ranks.

func (r *ranks) Broadcast(data []byte, root int) {
	n := len(data)
	if r.Rank() == root {
		n = 0
	}
	r.count(n, func() { r.World.Broadcast(data, root) })
}

func (r *ranks) Gather(data []byte, bounds []int) {
	own := bounds[r.Rank()+1] - bounds[r.Rank()]
	r.count(len(data)-own, func() { r.World.Gather(data, bounds) })
}

func (r *ranks) Send(data []byte, to int) { r.count(0, func() { r.World.Send(data, to) }) }

func (r *ranks) Receive(data []byte, from int) {
	r.count(len(data), func() { r.World.Receive(data, from) })
}

func (r *ranks) Exchange(send, received []byte, sent, taken []int) {
	own := taken[r.Rank()+1] - taken[r.Rank()]
	r.count(len(received)-own, func() { r.World.Exchange(send, received, sent, taken) })
}

// summary tells what passed between the processes, as rank 0 saw it.
func (r *ranks) summary() string {
	return fmt.Sprintf("%d ranks, %s: rank 0 waited %.1f s for others and received %s", r.Size(), r.Library(), r.calls.Seconds(), textformat.Bytes(r.received))
}

// Interrupted reports whether this process was asked to stop.
func (r *ranks) Interrupted() bool { return r.interrupted.Err() != nil }

// greet makes sure that all processes run the same program with the same arguments on CPUs
// that give the same bits, and starts to watch them.
func (r *ranks) greet(getenv func(string) string, args []string) error {
	path, err := cpu.ChoosePath()
	timeout := defaultTimeout
	if text := getenv(timeoutVariable); text != "" && err == nil {
		if timeout, err = time.ParseDuration(text); err != nil || timeout < time.Second {
			err = usagef("the environment variable %s: %q is not a time of at least 1s; use one such as 30s", timeoutVariable, text)
		}
	}
	if err := mpi.AgreeErrors(r, err); err != nil {
		return err
	}
	for _, one := range []struct{ what, value string }{
		{"the version of the program (" + programVersion() + ")", programVersion() + " " + runtime.GOARCH},
		{"the instruction set of the CPU (" + string(path) + "; the environment variable KFT_CPU selects it)", string(path)},
		{"the list of arguments", strings.Join(args, "\x00")},
	} {
		if err := mpi.AgreeSame(r, one.what, []byte(one.value)); err != nil {
			return err
		}
	}
	r.place = mpi.Place(r, mpi.Hostname(), runtime.NumCPU())
	crowded := []int64{0} // somewhere
	if r.place.Crowded() {
		crowded[0] = 1
	}
	r.Max(crowded)
	r.Yield(crowded[0] > 0)
	r.watch, err = mpi.StartWatch(r, timeout, r.lost)
	return err
}

// lost ends this process, and so the job, because another one ended or hangs.
func (r *ranks) lost(rank *mpi.RankError) {
	if r.Rank() > 1 {
		time.Sleep(failureGrace) // rank 1 reports the loss of rank 0
	}
	complain(r.stderr, fmt.Errorf("%w; the job ends, and no model is written", rank), nil)
	os.Exit(exitFailed)
}

// threads returns the number of threads of a process: those that are asked for, or else its
// share of the machine.
func (r *ranks) threads(asked int) int {
	if asked > 0 {
		return asked
	}
	return r.place.Threads(runtime.GOMAXPROCS(0))
}

// failed ends the job if this process alone may have failed: the others would wait for it for
// ever. Errors that all processes have agreed on end the job in order.
func (r *ranks) failed(err error) {
	var agreed *agreedError
	if r == nil || errors.As(err, &agreed) {
		return
	}
	var rank *mpi.RankError
	if errors.As(err, &rank) {
		return
	}
	if r.Rank() > 0 {
		time.Sleep(failureGrace) // the error may be one of all ranks, of which rank 0 informs
		err = &mpi.RankError{Rank: r.Rank(), Size: r.Size(), Host: mpi.Hostname(), Problem: err.Error()}
	}
	complain(r.stderr, err, nil)
	r.watch.Fail()
	time.Sleep(messageGrace) // a launcher that is busy may drop what it has not forwarded when the job ends
	r.Abort(exitCode(err))
}

// failureGrace is the time that a rank which failed leaves to rank 0 to end the job.
const failureGrace = 3 * time.Second

// messageGrace is the time that the launcher has to forward a message before the job ends.
const messageGrace = 300 * time.Millisecond

// agreedError is an error that all ranks have.
type agreedError struct{ error }

func (e *agreedError) Unwrap() error { return e.error }

// leads reports whether this process writes files.
func (e *env) leads() bool { return e.ranks == nil || e.ranks.Rank() == 0 }

// agree makes all processes fail if one of them did.
func (e *env) agree(err error) error {
	if e.ranks == nil {
		return err
	}
	if err := mpi.AgreeErrors(e.ranks, err); err != nil {
		return &agreedError{err}
	}
	return nil
}

// agreeSpec makes all processes fail if their specifications differ.
func (e *env) agreeSpec(s spec.Spec) error {
	if e.ranks == nil {
		return nil
	}
	text, err := json.Marshal(s)
	if err := e.agree(err); err != nil {
		return err
	}
	if slices.Contains(s.Data.Files, "-") {
		return &agreedError{usagef("standard input (-) reaches rank 0 only; save the table to a file that all %d ranks can read", e.ranks.Size())}
	}
	return mpi.AgreeSame(e.ranks, "the specification", text)
}

// together returns the context of work that all processes do: signals reach them at different
// times, so they agree on when to stop.
func (e *env) together() context.Context {
	if e.ranks == nil {
		return e.ctx
	}
	return context.WithoutCancel(e.ctx)
}
