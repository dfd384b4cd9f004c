package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// fitCommand trains a model.
type fitCommand struct {
	specFlags

	Output          string        `short:"o" group:"run" default:"model.kft" placeholder:"FILE" complete:"file" help:"Where the model goes (default: model.kft)."`
	Force           bool          `group:"run" help:"Overwrite FILE even where it is not a model."`
	Threads         int           `group:"run" placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
	TimeBudget      time.Duration `group:"run" placeholder:"60s" help:"Stop training after this time with the best model so far."`
	Checkpoint      string        `group:"run" placeholder:"DIR" complete:"dir" help:"Keep the state of training in this folder."`
	CheckpointEvery time.Duration `group:"run" default:"30s" placeholder:"30s" help:"Least time between two checkpoints; 0s saves after every block (default: 30s)."`
	Resume          bool          `group:"run" help:"Go on from the checkpoint, where there is one; ends in the same model file as an undisturbed run."`
	JSON            bool          `name:"json" group:"run" help:"Print the report as one JSON object."`
	Quiet           bool          `short:"q" group:"run" help:"Say nothing while working."`
	CPUProfile      string        `name:"cpuprofile" hidden:"" complete:"file" help:"Write a profile of the processor time to this file."`
}

// Help is shown by kft fit --help.
func (*fitCommand) Help() string {
	return `Reads the table, splits its rows into train, valid and test, trains on train, chooses penalties and the moment to stop on valid, and measures all three beside two simple formulas. Without --data it uses kft.yaml, which kft init writes; flags override the file. With --data it starts from the defaults and leaves kft.yaml alone, unless --spec names it. Ctrl-C ends training and saves the best model so far.

Examples:

    kft init sales.csv && kft fit
    kft fit --data sales.csv --target units --modes store,item,time=year+month --term 'store,item,time:20' --term 'store*item,time:2' --transform log1p -o sales.kft`
}

// Run trains, saves and reports.
func (c *fitCommand) Run(e *env) error {
	spec, given, err := c.specification()
	if err != nil {
		return err
	}
	if !given || len(spec.Data.Files) == 0 {
		return usagef("no table given: kft fit --data TABLE --target COLUMN --modes COLUMN,COLUMN, or kft init TABLE first, which writes %s", defaultSpecFile)
	}
	if err := c.check(spec); err != nil {
		return err
	}
	if !c.Quiet {
		for _, notice := range c.notices(spec) {
			fmt.Fprintln(e.stderr, notice)
		}
	}
	stopProfile, err := startProfile(c.CPUProfile)
	if err != nil {
		return err
	}
	defer stopProfile()
	show := newProgress(e.stderr, c.Quiet, spec.Data.Files, c.TimeBudget)
	m, report, err := kft.Fit(e.ctx, spec, kft.Source{}, kft.Options{
		Threads: c.Threads, TimeBudget: c.TimeBudget,
		Checkpoint: c.Checkpoint, CheckpointEvery: c.CheckpointEvery, Resume: c.Resume,
		Stdin: e.stdin, Progress: show.event,
	})
	show.end()
	if err != nil {
		return c.explain(err)
	}
	if untrained(report) && (report.Stop == solver.Interrupted || report.Stop == solver.Budget) {
		return c.noModel(report.Stop)
	}
	if err := m.Save(c.Output); err != nil {
		return err
	}
	if report.Stop == solver.Interrupted {
		fmt.Fprintf(e.stderr, "interrupted: training ended, the best model so far is in %s%s\n", c.Output, c.resumeHint())
	}
	if c.JSON {
		return writeJSON(e.stdout, report)
	}
	return writeSummary(e.stdout, m, report, c.Output)
}

// check refuses, before any work, what could only fail after it.
func (c *fitCommand) check(spec spec.Spec) error {
	if err := checkInputs(append(sideFiles(spec.Side.Tables), spec.Data.Files...)); err != nil {
		return err
	}
	switch {
	case c.Threads < 0:
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out for all processors", c.Threads)
	case c.TimeBudget < 0:
		return usagef("--time-budget: %v is not a time to work; give one such as 60s", c.TimeBudget)
	case c.CheckpointEvery < 0:
		return usagef("--checkpoint-every: %v is negative; give a time such as 30s", c.CheckpointEvery)
	case c.Resume && c.Checkpoint == "":
		return usagef("--resume needs the folder of the checkpoint: --checkpoint DIR")
	}
	if c.Checkpoint != "" {
		if err := checkFolder(c.Checkpoint); err != nil {
			return fmt.Errorf("--checkpoint: %w", err)
		}
	}
	return c.checkOutput(spec)
}

// checkOutput refuses to overwrite what is read or what is no model, and a
// folder in which nothing can be made.
func (c *fitCommand) checkOutput(spec spec.Spec) error {
	inputs := append(slices.Clone(spec.Data.Files), sideFiles(spec.Side.Tables)...)
	if file, ok := strings.CutPrefix(spec.Split, "file:"); ok {
		inputs = append(inputs, file)
	}
	if file := c.specPath(); file != "" {
		inputs = append(inputs, file)
	}
	if err := checkTarget(c.Output, inputs); err != nil {
		return err
	}
	if c.Force {
		return nil
	}
	return keepOthers(c.Output, ", or give --force")
}

// keepOthers refuses an output that is there and is no model; or says what else
// may be done.
func keepOthers(output, or string) error {
	info, err := os.Stat(output)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing there, or a device
	}
	f, err := modelfile.Read(output)
	if err == nil && f.Meta["kind"] == "model" {
		return nil
	}
	what := "it is not a model"
	var format *modelfile.FormatError
	if errors.As(err, &format) {
		what = format.Problem
	}
	return usagef("%s is there already and would be lost: %s; choose another file with -o%s", output, what, or)
}

// explain turns an interruption before training into words.
func (c *fitCommand) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted before training began; nothing was written")
	}
	return err
}

func (c *fitCommand) resumeHint() string {
	if c.Checkpoint == "" {
		return ""
	}
	return "; the same command with --resume goes on from " + c.Checkpoint
}

// untrained reports that not one sweep was finished.
func untrained(r *kft.Report) bool { return len(r.History) == 0 && len(r.Trials) == 0 }

// noModel says why there is none.
func (c *fitCommand) noModel(why solver.Stop) error {
	if why == solver.Interrupted {
		return errors.New("interrupted before the first sweep ended: there is no model yet, and nothing was written" + c.resumeHint())
	}
	return fmt.Errorf("the time budget of %v ended before the first sweep did: there is no model yet, and nothing was written; give a longer --time-budget%s", c.TimeBudget, c.resumeHint())
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// startProfile begins a profile of the processor time; the function returned
// ends it.
func startProfile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); f.Close() }, nil
}
