package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/progress"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// fitCommand trains a model.
type fitCommand struct {
	specFlags

	Output          string        `short:"o" group:"run" default:"model.kft" placeholder:"FILE" complete:"file" help:"Model file to write (default: model.kft)."`
	Force           bool          `group:"run" help:"Overwrite FILE even if it is not a model."`
	Threads         int           `from:"0" to:"4096" group:"run" placeholder:"N" help:"Number of threads (default: all CPUs)."`
	TimeBudget      time.Duration `from:"0s" group:"run" placeholder:"60s" help:"Stop training after this time and keep the best model so far (default: no limit)."`
	Checkpoint      string        `group:"run" placeholder:"DIR" complete:"dir" help:"Save the state of training in this folder."`
	CheckpointEvery time.Duration `from:"0s" group:"run" default:"30s" placeholder:"30s" help:"Minimum time between two checkpoints; 0s saves after every block (default: 30s)."`
	Resume          bool          `group:"run" help:"Continue from the checkpoint, if there is one. The model file is the same as that of a run without interruption."`
	DryRun          bool          `group:"run" help:"Print the memory and the time per sweep that the fit needs, and write nothing. Reads the table and trains for two sweeps."`
	Memory          byteSize      `group:"run" placeholder:"SIZE" help:"Limit of the memory, as in 2GiB. What a larger fit needs for its rows is kept in pages on disk (Linux); if that does not suffice, the fit is refused at the start (default: what the machine has)."`
	Scratch         string        `group:"run" placeholder:"DIR" help:"Folder for the pages of a fit with --memory (default: that of the environment variable TMPDIR, or /var/tmp)."`
	JSON            bool          `name:"json" group:"run" help:"Print the report as one JSON object."`
	Quiet           bool          `short:"q" group:"run" help:"Print no progress and no notes; warnings stay on standard error."`
	Client          string        `hidden:"" complete:"file" help:"File with a JSON value that the model keeps for the program that asked for the fit."`
	CPUProfile      string        `name:"cpuprofile" hidden:"" complete:"file" help:"Write a CPU profile to this file."`
}

// Help is shown by kft fit --help.
func (*fitCommand) Help() string {
	return `Splits the rows of a table into a training, a validation and a test set, trains on the first, makes its choices on the second, and compares the model with the best of many formulas on the third. What is not given is chosen: target and modes are guessed from the columns; without --term or --rank, scale, terms, ranks, inference and noise are chosen on the validation set. Without a table it uses kft.yaml, which kft init writes. With a table it starts from the default values and does not read kft.yaml, unless --spec names it. Flags override the specification. Ctrl-C ends training and saves the best model so far.

Examples:

    kft fit sales.csv
    kft fit sales.csv --side store=stores.csv --effort thorough --refit all
    kft fit sales.csv --target units --modes store,item,time=year+month --term 'store,item,time:20' --term 'store*item,time:2' --transform log1p -o sales.kft
    kft fit january.csv february.csv --spec kft.yaml`
}

// Run trains, saves and reports.
func (c *fitCommand) Run(e *env) error {
	spec, given, err := c.specification(e, c.Quiet)
	if err := e.agree(err); err != nil {
		return err
	}
	if !given || len(spec.Data.Files) == 0 {
		return usagef("no table given; use kft fit TABLE, or create %s with kft init TABLE first", defaultSpecFile)
	}
	if err := e.agree(c.check(spec, e.leads())); err != nil {
		return err
	}
	if err := e.agreeSpec(spec); err != nil {
		return err
	}
	if !c.Quiet {
		for _, note := range c.notes(spec) {
			fmt.Fprintln(e.stderr, note)
		}
	}
	var client []byte
	if c.Client != "" {
		if client, err = os.ReadFile(c.Client); err != nil {
			return err
		}
	}
	profile := c.CPUProfile
	if !e.leads() && profile != "" {
		profile = fmt.Sprintf("%s.%d", profile, e.ranks.Rank()) // beside that of rank 0
	}
	stopProfile, err := startProfile(profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	show := e.progress(c.Quiet, spec.Data.Files, c.TimeBudget)
	options := kft.Options{
		Threads: c.Threads, TimeBudget: c.TimeBudget, Memory: int64(c.Memory), Scratch: c.Scratch,
		Checkpoint: c.Checkpoint, CheckpointEvery: c.CheckpointEvery, Resume: c.Resume,
		Stdin: e.stdin, Progress: show.Event,
	}
	if e.ranks != nil {
		options.Ranks, options.Threads = e.ranks, e.ranks.threads(c.Threads)
	}
	if c.Memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(max(int64(c.Memory)/4*3-programBytes, int64(c.Memory)/4))) // a fit that needs more has the rest for pages
	}
	if c.DryRun {
		estimate, err := kft.EstimateFit(e.ctx, spec, kft.Source{}, options)
		show.End()
		return c.writeEstimate(e, estimate, c.explain(err))
	}
	m, report, err := kft.Fit(e.together(), spec, kft.Source{}, options)
	show.End()
	if err != nil {
		return c.explain(err)
	}
	if untrained(report) && (report.Stop == solver.Interrupted || report.Stop == solver.Budget) {
		return c.noModel(report.Stop)
	}
	if !e.leads() {
		return nil
	}
	if client != nil {
		if m, err = m.WithClient(client); err != nil {
			return fmt.Errorf("%s: %w", c.Client, err)
		}
	}
	if err := m.Save(c.Output); err != nil {
		return err
	}
	if e.ranks != nil && !c.Quiet {
		fmt.Fprintln(e.stderr, e.ranks.summary())
	}
	if report.Stop == solver.Interrupted || e.ctx.Err() != nil && !refitted(report) {
		fmt.Fprintf(e.stderr, "interrupted: the best model so far is in %s%s\n", c.Output, c.resumeHint())
	}
	report.Warnings = append(report.Warnings, c.damaged...)
	if c.JSON {
		return writeJSON(e.stdout, report)
	}
	if err := summary.WriteFit(e.stdout, m, report, c.Output, func(warning string) string { return nameFlags(warning, e.hasFlag) }); err != nil {
		return err
	}
	if len(c.Modes) > 0 && len(c.Covariate) == 0 && len(c.Term) == 0 {
		c.unused = search.Unused(spec)
	}
	if err := c.writeUnused(e.stdout); err != nil {
		return err
	}
	if note := effortNote(report); note != "" && !c.Quiet && !e.jsonMessages && progress.IsTerminal(e.rawErr) {
		fmt.Fprintln(e.stderr, note)
	}
	return nil
}

// longFit is the time in seconds from which on a fit is worth a note on how to shorten it.
const longFit = 20

// effortNote returns a note after a long fit with automatic choices, "" after others. It is
// shown to people, not to programs, whose input must not depend on the clock.
func effortNote(r *kft.Report) string {
	if len(r.Decisions) == 0 || r.Spec.Fit.Effort == "quick" || r.Seconds["total"] <= longFit {
		return ""
	}
	return "note: --effort quick compares fewer models and is faster"
}

// writeUnused names the columns that are not used and that may be covariates, with the flag
// that uses them, to be pasted into a shell.
func (c *fitCommand) writeUnused(w io.Writer) error {
	if len(c.unused) == 0 {
		return nil
	}
	const most = guess.MostCovariates
	var columns, modes []string
	for _, m := range c.unused[:min(len(c.unused), most)] {
		columns, modes = append(columns, m.Expression()), append(modes, m.String())
	}
	if more := len(c.unused) - most; more > 0 {
		columns = append(columns, fmt.Sprintf("%d more", more))
	}
	_, err := fmt.Fprintf(w, "Columns not used: %s. If they are known before the target, they may improve predictions: compare a fit with --covariate %s.\n", strings.Join(columns, ", "), textformat.Quote(strings.Join(modes, ",")))
	return err
}

// check returns the errors that can be found before any work, also those of the files to write
// if this process writes them.
func (c *fitCommand) check(spec spec.Spec, writes bool) error {
	if err := checkInputs(append(sideFiles(spec.Side.Tables), spec.Data.Files...)); err != nil {
		return err
	}
	if c.Resume && c.Checkpoint == "" {
		return usagef("--resume requires the folder of the checkpoint; add --checkpoint DIR")
	}
	if !writes {
		return nil
	}
	if c.Checkpoint != "" {
		if err := checkFolder(c.Checkpoint); err != nil {
			return fmt.Errorf("--checkpoint: %w", err)
		}
	}
	return c.checkOutput(spec)
}

// checkOutput returns an error for an output that is also an input, that exists and is
// not a model, or that cannot be created.
func (c *fitCommand) checkOutput(spec spec.Spec) error {
	inputs := append(slices.Clone(spec.Data.Files), sideFiles(spec.Side.Tables)...)
	if file, ok := strings.CutPrefix(spec.Split, "file:"); ok {
		inputs = append(inputs, file)
	}
	if file := c.specPath(); file != "" {
		inputs = append(inputs, file)
	}
	if err := checkOutput(c.Output, inputs); err != nil {
		return err
	}
	if c.Force {
		return nil
	}
	return checkReplaceable(c.Output, ", or add --force")
}

// checkReplaceable returns an error for an output that exists and is not a model. The
// remedy is added to the advice.
func checkReplaceable(output, remedy string) error {
	info, err := os.Stat(output)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing there, or a device
	}
	f, err := modelfile.Read(output)
	if err == nil && f.Meta["kind"] == "model" {
		return nil
	}
	problem := "it is not a model"
	var format *modelfile.FormatError
	if errors.As(err, &format) {
		problem = format.Problem
	}
	return usagef("%s already exists and would be lost: %s; choose another file with -o%s", output, problem, remedy)
}

// explain rewords an interruption before training.
func (c *fitCommand) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted before training began; nothing was written")
	}
	if c.Forecast != nil && kft.FieldPath(err) == "split" {
		return &forecastError{err, *c.Forecast}
	}
	return err
}

func (c *fitCommand) resumeHint() string {
	if c.Checkpoint == "" {
		return ""
	}
	return "; the same command with --resume continues from " + c.Checkpoint
}

// untrained reports whether no sweep was finished.
func untrained(r *kft.Report) bool { return len(r.History) == 0 && len(r.Trials) == 0 }

// refitted reports whether the training on more rows that the specification has was finished.
func refitted(r *kft.Report) bool {
	switch r.Spec.Fit.Refit {
	case spec.RefitValid:
		return r.Refit != nil
	case spec.RefitAll:
		return r.Refit.Saw(dataset.Test)
	}
	return true
}

// noModel returns the error of a run that ended before its first sweep.
func (c *fitCommand) noModel(why solver.Stop) error {
	if why == solver.Interrupted {
		return errors.New("interrupted before the first sweep ended: there is no model yet, and nothing was written" + c.resumeHint())
	}
	return fmt.Errorf("the time budget of %v ended before the first sweep: there is no model yet, and nothing was written; increase --time-budget%s", c.TimeBudget, c.resumeHint())
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// startProfile starts a CPU profile and returns the function that ends it.
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
