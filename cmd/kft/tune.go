package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/search/tuning"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// tuneCommand searches for a better specification by trials.
type tuneCommand struct {
	specFlags

	Trials    int    `from:"1" group:"search" default:"20" placeholder:"N" help:"Total number of trials of the study, including earlier ones (default: 20)."`
	Objective string `group:"search" default:"r2" placeholder:"NAME" values:"r2,mae,crps,eta,elbo" help:"Measure to optimize: r2, mae, crps or eta on the validation set, or elbo, the evidence bound of a posterior (default: r2)."`
	Sampler   string `group:"search" default:"tpe" placeholder:"NAME" values:"tpe,random" help:"How values are proposed: tpe or random (default: tpe)."`
	Halving   string `group:"search" default:"auto" placeholder:"KIND" values:"auto,both,sweeps,rows,none" help:"Successive halving: trials start with fewer sweeps, rows or both; none gives every trial the full budget; auto is both from a million training rows on (default: auto)."`
	Study     string `group:"search" default:"study.db" placeholder:"STUDY" complete:"file" help:"Study that stores the trials: a file, or postgres://user@host/database for workers on several machines (default: study.db)."`
	Resume    bool   `group:"search" help:"Continue an existing study, or join other workers on it."`
	Worker    bool   `group:"search" help:"Create the study or join it, whichever is needed. For workers that are started at the same time."`
	Output    string `endings:".yaml,.yml" short:"o" group:"search" default:"best.yaml" placeholder:"FILE" complete:"file" help:"File for the best specification (default: best.yaml)."`
	Threads   int    `from:"0" to:"4096" group:"run" placeholder:"N" help:"Number of threads (default: all CPUs)."`
	Quiet     bool   `short:"q" group:"run" help:"Print no progress and no notes; warnings stay on standard error."`
}

// Help is shown by kft tune --help.
func (*tuneCommand) Help() string {
	return `Fits variations of a specification and writes the one that is best on the validation set (with --objective elbo: on the training set). The test set is not used. The first trial is the specification itself. The search varies the ranks of the terms, from a quarter to four times the given ones, the order of the cores of a term with three or more, and which terms besides the first are used; scale and likelihood if they are auto; with side tables the variant, the kernel, its columns, and which of several tables are used; the weight of the penalty if it is given; and the learning rate of adam. An automatic penalty is chosen within each trial. The section search of the specification overrides this:

    search: {rank.1: 4..64, variant: [wlr, additive], kernel: matern32, columns: fixed, sweeps: [30, 60]}

With --halving a trial is fitted with a ninth of the budget, then a third, then all of it. It is pruned as soon as it is not among the best third of the trials that got as far.

A failed trial is recorded, and the study continues. After an interruption, the same command with --resume continues. With --worker several processes share the work: in several shells, or on several machines with the URL of a PostgreSQL database. If a worker is killed, only its current trial is lost, and another worker repeats it after a minute.

Examples:

    kft tune --trials 40 --objective crps
    kft tune sales.csv --target units --modes store,item,time=year+month
    kft tune --trials 80 --objective crps --resume
    kft tune --study postgres://kft@host/kft --worker
    kft study show study.db`
}

// Run works on the study and writes the best specification.
func (c *tuneCommand) Run(e *env) error {
	spec, given, err := c.specification(e, c.Quiet)
	if err != nil {
		return err
	}
	if !given || len(spec.Data.Files) == 0 {
		return usagef("no table given; use kft tune TABLE --target COLUMN --modes COLUMN,COLUMN, or create %s with kft init TABLE first", defaultSpecFile)
	}
	if err := c.check(spec); err != nil {
		return err
	}
	search := kft.Search{Spec: spec, Objective: c.Objective, Sampler: c.Sampler, Halving: c.Halving, Threads: c.Threads}
	if err := search.Read(e.ctx); err != nil {
		return err
	}
	if !c.Quiet {
		for _, n := range search.Notices() {
			fmt.Fprintln(e.stderr, "note: "+n)
		}
	}
	store, err := tune.OpenStore(e.ctx, c.Study, 0)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := c.checkResume(e.ctx, store); err != nil {
		return err
	}
	open, err := search.Open(e.ctx, store)
	var other *tune.DefinitionError
	if errors.As(err, &other) {
		return usagef("%s: %v; use the same specification and flags, or another study with --study", tune.RedactedLocation(c.Study), err)
	}
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	worker := tune.Worker{Name: fmt.Sprintf("%s/%d", host, os.Getpid())}
	if !c.Quiet {
		names := open.Parameters()
		worker.OnEnd = func(r tune.Report) { c.writeTrial(e.stderr, r, names) }
		worker.OnWait = func(held int) {
			fmt.Fprintf(e.stderr, "waiting for %s of other workers; trials of a dead worker are repeated within a minute\n", textformat.Plural(held, "trial"))
		}
	}
	if err := open.Work(e.ctx, c.Trials, worker); err != nil {
		return c.explain(err)
	}
	return c.conclude(e, open, store)
}

// check returns the errors that can be found before any work.
func (c *tuneCommand) check(spec spec.Spec) error {
	switch {
	case !slices.Contains(tune.Samplers(), c.Sampler):
		return usagef("--sampler: unknown sampler %q%s; use one of %s", c.Sampler, suggest.Hint(c.Sampler, tune.Samplers()), strings.Join(tune.Samplers(), ", "))
	case slices.Contains(spec.Data.Files, "-"):
		return usagef("every worker reads the table, so it cannot come from standard input; use a file")
	}
	if err := tuning.CheckObjective(spec, c.Objective); err != nil {
		return usagef("--objective: %v", err)
	}
	if err := tuning.CheckHalving(c.Halving); err != nil {
		return usagef("--halving: %v", err)
	}
	inputs := append(slices.Clone(spec.Data.Files), sideFiles(spec.Side.Tables)...)
	if file := c.specPath(); file != "" {
		inputs = append(inputs, file)
	}
	if err := checkStudy(c.Study); err != nil {
		return err
	}
	if !tune.IsPostgres(c.Study) {
		if err := checkOutput(c.Study, inputs); err != nil {
			return err
		}
		if _, err := os.Stat(c.Study); err != nil && c.Resume && !c.Worker {
			return c.noStudy()
		}
		if samePath(c.Study, c.Output) {
			return usagef("%s cannot contain both the study and the best specification; choose another file with --study or --output", c.Output)
		}
		inputs = append(inputs, c.Study)
	}
	return checkOutput(c.Output, inputs)
}

// checkResume returns an error for an existing study without --resume, and for --resume
// without a study.
func (c *tuneCommand) checkResume(ctx context.Context, store tune.Store) error {
	if c.Worker {
		return nil
	}
	recorded, err := store.Definition(ctx)
	switch {
	case err != nil:
		return err
	case recorded != "" && !c.Resume:
		return usagef("%s already contains a study; continue it with --resume, or choose another one with --study", tune.RedactedLocation(c.Study))
	case recorded == "" && c.Resume:
		return c.noStudy()
	}
	return nil
}

func (c *tuneCommand) noStudy() error {
	return usagef("%s: there is no study to continue; leave out --resume to start one", tune.RedactedLocation(c.Study))
}

// writeTrial writes one line about a finished trial.
func (c *tuneCommand) writeTrial(w io.Writer, r tune.Report, names []string) {
	var what string
	switch {
	case r.Lost:
		what = "taken over by another worker"
	case r.Trial.State == tune.Failed:
		what = "failed: " + firstLine(r.Trial.Problem)
	case r.Trial.State == tune.Pruned:
		what = fmt.Sprintf("pruned at rung %d with %s %.4f", len(r.Trial.Rungs), c.Objective, *r.Trial.Score)
	default:
		what = fmt.Sprintf("%s %.4f", c.Objective, *r.Trial.Score)
	}
	if r.Same != nil {
		what = fmt.Sprintf("not run, because no other values were found: the same as trial %d (%s)", r.Same.Number+1, what)
	}
	best := ""
	if r.Best != nil {
		best = fmt.Sprintf(" (best %.4f, trial %d)", *r.Best.Score, r.Best.Number+1)
	}
	fmt.Fprintf(w, "trial %d, %d of %d: %s%s: %s\n", r.Trial.Number+1, r.Finished, r.Trials, what, best, valuesText(r.Trial.Values, names))
}

// valuesText writes values with four digits.
func valuesText(v tune.Values, names []string) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, n+"="+shortNumber(v[n]))
	}
	return strings.Join(parts, " ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// explain adds how an interrupted study can be continued.
func (c *tuneCommand) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: finished trials are kept in %s; the same command with --resume continues", tune.RedactedLocation(c.Study))
	}
	return fmt.Errorf("%w; finished trials are kept, and the same command with --resume continues", err)
}

// conclude writes and describes the best specification.
func (c *tuneCommand) conclude(e *env, search *kft.OpenSearch, store tune.Store) error {
	best, trial, err := search.Best(e.ctx)
	if err != nil {
		return fmt.Errorf("%w; kft study show %s lists the trials", err, tune.RedactedLocation(c.Study))
	}
	all, err := store.Trials(e.ctx)
	if err != nil {
		return err
	}
	finished := 0
	for _, t := range all {
		if t.Finished() {
			finished++
		}
	}
	err = atomicfile.Write(c.Output, func(w io.Writer) error {
		_, err := w.Write(best.YAML())
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "best of %s by %s: trial %d, %.4f\n", textformat.Plural(finished, "trial"), c.Objective, trial.Number+1, *trial.Score)
	writeValues(e.stdout, trial.Values, search.Parameters())
	fmt.Fprintf(e.stdout, "Model: %s; scale %s\n", spec.ReadableTerms(strings.Join(best.Terms, " + ")), best.Transform)
	_, err = fmt.Fprintf(e.stdout, "\nWrote %s; kft fit --spec %s trains it, kft study show %s lists the trials\n", c.Output, c.Output, tune.RedactedLocation(c.Study))
	return err
}
