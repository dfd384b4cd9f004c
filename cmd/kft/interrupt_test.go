package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// cancelling is a writer that cancels a context when a text is written.
type cancelling struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelling) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(c.text)) {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// An interruption during training saves the best model so far and is not an error. One
// before training writes nothing.
func TestInterrupted(t *testing.T) {
	for _, c := range []struct {
		at    string // line of progress at which it occurs
		flags []string
		code  int
		says  string
		saved bool
	}{
		{"reading", nil, exitFailed, "interrupted before training began; nothing was written", false},
		{"evaluating formulas", nil, exitFailed, "interrupted before training began; nothing was written", false},
		{"training", nil, exitFailed, "interrupted before the first sweep ended", false},
		{": sweep 2,", nil, exitGood, "interrupted: the best model so far is in m.kft\n", true}, // in a trial
		{"sweep 2 of", []string{"--ridge", "frequency", "--lambda", "0.05", "--checkpoint", "state"}, exitGood,
			"interrupted: the best model so far is in m.kft; the same command with --resume continues from state\n", true},
		{"training again", []string{"--refit", "valid"}, exitGood, "interrupted: the best model so far is in m.kft\n", true},
	} {
		t.Run(c.at, func(t *testing.T) {
			inEmptyFolder(t)
			writeSales(t, "sales.csv", mediumSales)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stderr := &cancelling{text: c.at, cancel: cancel}
			var stdout bytes.Buffer
			code := run(ctx, fitSales(append(c.flags, "--rank", "3", "-o", "m.kft")...), strings.NewReader(""), &stdout, stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("got exit %d, want %d; standard error:\n%s", code, c.code, stderr.String())
			}
			if _, err := os.Stat("m.kft"); (err == nil) != c.saved {
				t.Errorf("model exists: got %v, want %v", err == nil, c.saved)
			}
			if c.saved {
				if r := must(t, "inspect", "m.kft"); !strings.Contains(r.stdout, "interrupted") {
					t.Errorf("the model does not record the interruption:\n%s", r.stdout)
				}
			} else if stdout.Len() > 0 {
				t.Errorf("standard output has %q", stdout.String())
			}
		})
	}
}

// The same for the signal.
func TestSignal(t *testing.T) {
	kft := program(t)
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	command := exec.Command(kft, fitSales("--rank", "6", "-o", "m.kft", "--sweeps", "100000", "--patience", "100000", "--ridge", "uniform", "--lambda", "3")...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(stderr)
	sent, said := false, false
	for scanner.Scan() {
		if !sent && strings.HasPrefix(scanner.Text(), "sweep 2 ") {
			sent = true
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		said = said || strings.HasPrefix(scanner.Text(), "interrupted: the best model so far")
	}
	if err := command.Wait(); err != nil || !said {
		t.Errorf("%v; said so: %v", err, said)
	}
	must(t, "inspect", "m.kft")
}
