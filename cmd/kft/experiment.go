package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/childprocess"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/experiment"
)

// experimentCommand compares configurations on the same splits.
type experimentCommand struct {
	Run   experimentRun   `cmd:"" default:"withargs" help:"Fit every configuration on every split, except for what is already done."`
	Table experimentTable `cmd:"" help:"Compare results: means, standard deviations, paired differences."`
}

// experimentRun runs the missing parts of an experiment.
type experimentRun struct {
	File     string   `arg:"" optional:"" complete:"file" help:"Experiment file, as in paper.yaml."`
	SpecFile string   `name:"spec" placeholder:"FILE" complete:"file" help:"Same as the argument FILE."`
	Redo     []string `placeholder:"CONFIG" help:"Discard the results and the tuning of a configuration and repeat them. May be repeated."`
	Threads  int      `from:"0" to:"4096" placeholder:"N" help:"Number of threads per fit (default: all CPUs)."`
	Quiet    bool     `short:"q" help:"Print no progress and no notes; warnings stay on standard error."`
}

// Help is shown by kft experiment run --help.
func (*experimentRun) Help() string {
	return `The file lists configurations (specifications of kft fit with changes) and the splits of the table; see docs/concepts/experiments.md for an example. The command writes the splits, tunes the configurations that request it, and fits every configuration on every split. Each fit is a separate process whose time and memory are recorded. At the end it prints the table.

Results are saved as they are computed. After an interruption the same command continues. It repeats failed fits and those whose configuration has changed, and keeps all others.

Examples:

    kft experiment run paper.yaml
    kft experiment table paper.yaml --format latex`
}

// Run runs the experiment and prints the table.
func (c *experimentRun) Run(e *env) error {
	file, err := onlyFile(c.File, c.SpecFile)
	if err != nil {
		return err
	}
	spec, err := loadExperiment(file)
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
	opt := experiment.Options{Tool: "kft " + programVersion(), Redo: c.Redo, Runner: &childprocess.Runner{Program: program, Threads: c.Threads, Quiet: c.Quiet, Stderr: e.stderr}}
	if !c.Quiet {
		opt.Progress = func(line string) { fmt.Fprintln(e.stderr, line) }
	}
	done, err := experiment.Run(e.ctx, spec, opt)
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("interrupted: %s done, in %s; the same command continues", textformat.Plural(done.Cells, "cell"), spec.Output)
	}
	if err != nil {
		return err
	}
	table := experimentTable{Source: string(spec.Output), Format: "text", Output: "-"}
	if err := table.Run(e); err != nil {
		return err
	}
	if done.Failed > 0 {
		return fmt.Errorf("%d of %s failed; the same command repeats them", done.Failed, textformat.Plural(done.Cells, "cell"))
	}
	return nil
}

// onlyFile returns the experiment file that is given as an argument or by --spec.
func onlyFile(argument, flag string) (string, error) {
	switch {
	case argument == "" && flag == "":
		return "", usagef("no experiment file given; add it, as in kft experiment run paper.yaml")
	case argument != "" && flag != "" && argument != flag:
		return "", usagef("the experiment file is given twice: %s and --spec %s; give it once", argument, flag)
	}
	return cmp.Or(argument, flag), nil
}

// loadExperiment reads an experiment file.
func loadExperiment(file string) (experiment.Spec, error) {
	spec, err := experiment.Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = usagef("%s: no such experiment file; docs/concepts/experiments.md has an example", file)
	}
	return spec, err
}
