package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kernel-fried-tensor/kft/experiment"
)

// experimentCommand compares configurations on the same splits.
type experimentCommand struct {
	Run   experimentRun   `cmd:"" default:"withargs" help:"Fit every configuration on every split, as far as that is missing."`
	Table experimentTable `cmd:"" help:"Compare the results of a folder: means, standard deviations, paired differences."`
}

// experimentRun does what is missing of an experiment.
type experimentRun struct {
	SpecFile string   `name:"spec" required:"" placeholder:"FILE" complete:"file" help:"The experiment's file."`
	Redo     []string `placeholder:"CONFIG" help:"Throw the results and the tuning of a configuration away and do them again. May be repeated."`
	Threads  int      `placeholder:"N" help:"Threads of a fit (default: as many as there are processors)."`
	Quiet    bool     `short:"q" help:"Say nothing while working."`
}

// Help is shown by kft experiment run --help.
func (*experimentRun) Help() string {
	return `The file names configurations, each a specification of kft fit with what it changes, and the splits of the table; docs/concepts/experiments.md shows one. The splits are written first, then a configuration that asks for it is tuned, then every configuration is fitted on every split, each in a process of its own, whose time and memory are recorded. In the end the table is printed.

Results are written as they come. The same command goes on after an interruption, tries failed cells again, and does again what has changed; all else is kept.

Examples:

    kft experiment --spec paper.yaml
    kft experiment table results/paper --format latex`
}

// Run does the work and prints the table.
func (c *experimentRun) Run(e *env) error {
	if c.Threads < 0 {
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out for all processors", c.Threads)
	}
	spec, err := experiment.Load(c.SpecFile)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: there is no such experiment; docs/concepts/experiments.md shows one", c.SpecFile)
	}
	if err != nil {
		return err
	}
	if err := checkFolder(string(spec.Output)); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	opt := experiment.Options{Tool: "kft " + programVersion(), Redo: c.Redo, Runner: &childRunner{program: program, threads: c.Threads, quiet: c.Quiet, stderr: e.stderr}}
	if !c.Quiet {
		opt.Progress = func(line string) { fmt.Fprintln(e.stderr, line) }
	}
	done, err := experiment.Run(e.ctx, spec, opt)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s done, in %s; the same command goes on", plural(done.Cells, "cell"), spec.Output)
	}
	if err != nil {
		return err
	}
	table := experimentTable{Folder: string(spec.Output), Format: "text", Output: "-"}
	if err := table.Run(e); err != nil {
		return err
	}
	if done.Failed > 0 {
		return fmt.Errorf("%d of %s failed; the same command tries them again", done.Failed, plural(done.Cells, "cell"))
	}
	return nil
}
