package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// experimentTable compares the results of an experiment.
type experimentTable struct {
	Source   string   `arg:"" name:"experiment" complete:"file" help:"Experiment file, as in paper.yaml, or the folder of its results."`
	Format   string   `default:"text" placeholder:"F" values:"text,markdown,latex" help:"Format of the table: text, markdown or latex (default: text)."`
	Against  string   `placeholder:"CONFIG" help:"Configuration that the others are compared with (default: that of the experiment)."`
	Measures []string `placeholder:"NAME,..." help:"Measures to compare: r2, rmse, mae, r2_scale, xi, eta, crps, pinball, coverage90, width90, winkler90, log_density, seconds, cpu_seconds, memory; valid.r2 and so on for the validation set (default: those of the experiment)."`
	Output   string   `short:"o" default:"-" placeholder:"FILE" complete:"file" help:"File to write (default: standard output)."`
}

// Help is shown by kft experiment table --help.
func (*experimentTable) Help() string {
	return `Prints one row per configuration with mean and standard deviation of each measure on the test set over the splits, then the differences to one configuration on the same splits with their standard errors. Results that other programs have put into the folder are included. The command can be used while the experiment runs.

Examples:

    kft experiment table paper.yaml
    kft experiment table results/iowa --against kft-r2 --format markdown -o iowa.md`
}

// Run reads and compares the results.
func (c *experimentTable) Run(e *env) error {
	if !slices.Contains(experiment.Formats(), c.Format) {
		return usagef("--format: unknown format %q%s; use one of %s", c.Format, suggest.Hint(c.Format, experiment.Formats()), strings.Join(experiment.Formats(), ", "))
	}
	for _, m := range c.Measures {
		if err := experiment.CheckMeasure(m); err != nil {
			return usagef("--measures: %v", err)
		}
	}
	if c.Output != "-" {
		if err := checkOutput(c.Output, nil); err != nil {
			return err
		}
	}
	folder := experiment.Folder(c.Source)
	if info, err := os.Stat(c.Source); err == nil && info.Mode().IsRegular() {
		spec, err := loadExperiment(c.Source)
		if err != nil {
			return err
		}
		folder = spec.Output
	}
	tables, err := experiment.ReadTables(folder)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		ledger := experiment.NewLedger(tables)
		return c.print(e, func(w io.Writer) error { return ledger.Write(w, c.Format) })
	}
	results, err := experiment.Read(folder)
	if err != nil {
		return err
	}
	summary, err := experiment.Summarize(results, c.Measures, c.Against)
	if err != nil {
		return usagef("--against: %v", err)
	}
	return c.print(e, func(w io.Writer) error { return summary.Write(w, c.Format) })
}

// print writes a table to the output.
func (c *experimentTable) print(e *env, write func(w io.Writer) error) error {
	if c.Output == "-" {
		return write(e.rawOut)
	}
	return atomicfile.Write(c.Output, write)
}
