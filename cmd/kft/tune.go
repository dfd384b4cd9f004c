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
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// tuneCommand searches for a better specification.
type tuneCommand struct {
	specFlags

	Trials    int    `group:"search" default:"20" placeholder:"N" help:"How many trials the study shall have, earlier ones included (default: 20)."`
	Objective string `group:"search" default:"r2" placeholder:"NAME" values:"r2,mae,crps,eta,elbo" help:"What is to be best: r2, mae, crps or eta of the valid part, or elbo, the bound of a posterior (default: r2)."`
	Sampler   string `group:"search" default:"tpe" placeholder:"NAME" values:"tpe,random" help:"How values are proposed: tpe or random (default: tpe)."`
	Halving   string `group:"search" default:"auto" placeholder:"WHAT" values:"auto,both,sweeps,rows,none" help:"What a trial has less of until it is among the best: sweeps, rows, both, or none, which gives every trial all; auto is both with a million training rows or more (default: auto)."`
	Study     string `group:"search" default:"study.db" placeholder:"PLACE" complete:"file" help:"Where the trials are kept: a file, or postgres://user@host/database for workers on several machines (default: study.db)."`
	Resume    bool   `group:"search" help:"Go on with the study that is there, or join others that work on it."`
	Worker    bool   `group:"search" help:"Work on the study whether others began it or not, for commands that are given at the same time."`
	Output    string `short:"o" group:"search" default:"best.yaml" placeholder:"FILE" complete:"file" help:"Where the best specification goes (default: best.yaml)."`
	Threads   int    `group:"run" placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
	Quiet     bool   `short:"q" group:"run" help:"Say nothing while working."`
}

// Help is shown by kft tune --help.
func (*tuneCommand) Help() string {
	return `Fits variations of a specification and keeps the one that is best on the valid part (--objective elbo: on the training part); the test part decides nothing. The first trial is the specification itself. Varied are the ranks of the terms, from a quarter to four times those given, and which terms beside the first there are; scale and likelihood where they are auto; with side tables the variant, the kernel, its columns, and which of several tables are used; a penalty's weight that is given; for adam the rate. A penalty that is auto is found by every trial for itself. The section search of the specification says otherwise:

    search: {rank.1: 4..64, variant: [wlr, additive], kernel: matern32, columns: fixed, sweeps: [30, 60]}

With --halving a trial is fitted with a ninth of the budget, then a third, then all of it, and given up (pruned) as soon as it is not among the best third of those that got as far.

A trial that fails is recorded and the study goes on. The same command with --resume goes on after an interruption. With --worker it can be given in several shells at once, or with the URL of a PostgreSQL database on several machines: they share the work. A worker that is killed loses its own trial only, which is run again by another when nothing was heard of it for a minute.

Examples:

    kft tune --spec kft.yaml --trials 40 --objective crps
    kft tune --spec kft.yaml --trials 80 --objective crps --resume
    kft tune --spec kft.yaml --study postgres://kft@host/kft --worker
    kft study show study.db`
}

// Run works on the study and writes the best specification.
func (c *tuneCommand) Run(e *env) error {
	spec, given, err := c.specification()
	if err != nil {
		return err
	}
	if !given || len(spec.Data.Files) == 0 {
		return usagef("no table given: kft tune --data TABLE --target COLUMN --modes COLUMN,COLUMN, or kft init TABLE first, which writes %s", defaultSpecFile)
	}
	if err := c.check(spec); err != nil {
		return err
	}
	search := kft.Search{Spec: spec, Objective: c.Objective, Sampler: c.Sampler, Halving: c.Halving, Threads: c.Threads}
	if err := search.Read(e.ctx); err != nil {
		return err
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
		return usagef("%s: %v; give the same specification and flags, or another place by --study", tune.RedactedLocation(c.Study), err)
	}
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	worker := tune.Worker{Name: fmt.Sprintf("%s/%d", host, os.Getpid())}
	if !c.Quiet {
		names := open.Parameters()
		worker.OnEnd = func(r tune.Report) { c.tell(e.stderr, r, names) }
		worker.OnWait = func(held int) {
			fmt.Fprintf(e.stderr, "waiting for %s that others hold; of a worker that died they are begun again within a minute\n", plural(held, "trial"))
		}
	}
	if err := open.Work(e.ctx, c.Trials, worker); err != nil {
		return c.explain(err)
	}
	return c.conclude(e, open, store)
}

// check refuses, before any work, what could only fail after it.
func (c *tuneCommand) check(spec spec.Spec) error {
	switch {
	case c.Trials < 1:
		return usagef("--trials: %d is not a number of trials; give 1 or more", c.Trials)
	case c.Threads < 0:
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out for all processors", c.Threads)
	case !slices.Contains(tune.Samplers(), c.Sampler):
		return usagef("--sampler: %q is not known%s; use one of %s", c.Sampler, suggest.Hint(c.Sampler, tune.Samplers()), strings.Join(tune.Samplers(), ", "))
	case slices.Contains(spec.Data.Files, "-"):
		return usagef("every worker reads the table: give it as a file, not by standard input")
	}
	if err := search.CheckObjective(spec, c.Objective); err != nil {
		return usagef("--objective: %v", err)
	}
	if err := search.CheckHalving(c.Halving); err != nil {
		return usagef("--halving: %v", err)
	}
	inputs := append(slices.Clone(spec.Data.Files), sideFiles(spec.Side.Tables)...)
	if file := c.specPath(); file != "" {
		inputs = append(inputs, file)
	}
	if err := checkPlace(c.Study); err != nil {
		return err
	}
	if !tune.IsPostgres(c.Study) {
		if err := checkTarget(c.Study, inputs); err != nil {
			return err
		}
		if _, err := os.Stat(c.Study); err != nil && c.Resume && !c.Worker {
			return c.noStudy()
		}
		if samePath(c.Study, c.Output) {
			return usagef("%s cannot hold both the study and the best specification; name another file by --study or --output", c.Output)
		}
		inputs = append(inputs, c.Study)
	}
	return checkTarget(c.Output, inputs)
}

// checkResume refuses to go on with a study by accident, or with none.
func (c *tuneCommand) checkResume(ctx context.Context, store tune.Store) error {
	if c.Worker {
		return nil
	}
	recorded, err := store.Definition(ctx)
	switch {
	case err != nil:
		return err
	case recorded != "" && !c.Resume:
		return usagef("%s holds a study already: --resume goes on with it, --study names another place", tune.RedactedLocation(c.Study))
	case recorded == "" && c.Resume:
		return c.noStudy()
	}
	return nil
}

func (c *tuneCommand) noStudy() error {
	return usagef("%s: there is no study to go on with; leave --resume out to begin one", tune.RedactedLocation(c.Study))
}

// tell writes a line a trial.
func (c *tuneCommand) tell(w io.Writer, r tune.Report, names []string) {
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

// explain says what becomes of an interrupted study.
func (c *tuneCommand) explain(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: what is finished is kept in %s, and the same command with --resume goes on", tune.RedactedLocation(c.Study))
	}
	return fmt.Errorf("%w; what is finished is kept, and the same command with --resume goes on", err)
}

// conclude writes the best specification and says what it is.
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
	fmt.Fprintf(e.stdout, "best of %s by %s: trial %d, %.4f\n", plural(finished, "trial"), c.Objective, trial.Number+1, *trial.Score)
	writeValues(e.stdout, trial.Values, search.Parameters())
	_, err = fmt.Fprintf(e.stdout, "\n%s holds its specification: kft fit --spec %s trains it, kft study show %s lists the trials\n", c.Output, c.Output, tune.RedactedLocation(c.Study))
	return err
}
