package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// demoCommand demonstrates kft on a synthetic table.
type demoCommand struct {
	Dir     string `default:"kft-demo" placeholder:"DIR" complete:"dir" help:"Folder for the table and the model (default: ./kft-demo)."`
	Seed    uint64 `from:"1" default:"1" placeholder:"N" help:"Seed of the table and of training, 1 or more (default: 1)."`
	Threads int    `from:"0" to:"4096" placeholder:"N" help:"Number of threads (default: all CPUs)."`
	Quiet   bool   `short:"q" help:"Print no progress and no notes; warnings stay on standard error."`
}

// Help is shown by kft demo --help.
func (*demoCommand) Help() string {
	return `Generates a table of units sold by store, item and month (about 250,000 rows) from a known distribution, trains on it with the command that it prints, and compares the model with the best of several formulas and with the true distribution. Requires no data and takes less than half a minute.

Example:

    kft demo`
}

const demoSplit = "random:60/20/20"

// Run generates the table, trains through the command line and lists further commands.
func (c *demoCommand) Run(e *env) error {
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return fmt.Errorf("the folder %s cannot be created: %w; choose another one with --dir", c.Dir, err)
	}
	truth := synthetic.New(synthetic.Default(c.Seed))
	table, file := filepath.Join(c.Dir, "sales.csv"), filepath.Join(c.Dir, "model.kft")
	if err := atomicfile.Write(table, truth.WriteCSV); err != nil {
		return err
	}
	fit := []string{"fit", table, "--target", "units", "--modes", "store,item,time=year+month",
		"--term", "store,item,time:6", "--term", "store*item", "--transform", "log1p", "--split", demoSplit,
		"--seed", fmt.Sprint(c.Seed), "-o", file}
	fmt.Fprintf(e.stdout, "Generated %s: %s of units sold by store, item and month, from a known distribution.\n\n$ kft %s\n\n",
		table, textformat.Plural(truth.Len(), "row"), textformat.QuoteAll(fit))
	// The command shown does not include flags that have no effect on the result.
	fit = append(fit, "--force", "--threads", fmt.Sprint(c.Threads))
	if c.Quiet {
		fit = append(fit, "--quiet")
	}
	if code := run(e.ctx, fit, e.stdin, e.rawOut, e.rawErr); code != exitGood {
		return errors.New("the demonstration ended early; see the message above")
	}
	best, err := c.oracle(truth)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nThe true distribution has these scores on test, which no model can exceed except by chance:\nR2 %s, MAE %s, R2 log1p %s.\n",
		textformat.Ratio(best.R2), textformat.Amount(best.MAE), textformat.Ratio(best.R2Scale))
	c.next(&b, table, file)
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// oracle returns the score of the true distribution on the test set of the fit. The table
// has neither missing targets nor repeated cells, so its split depends only on the number
// of rows and the seed.
func (c *demoCommand) oracle(truth *synthetic.Table) (metrics.Score, error) {
	spec, err := split.Parse(demoSplit)
	if err != nil {
		return metrics.Score{}, err
	}
	split, err := spec.Apply(&dataset.Table{Y: make([]float32, truth.Len())}, c.Seed)
	if err != nil {
		return metrics.Score{}, err
	}
	var tally metrics.PointSums
	for row, part := range split.Parts {
		if part == dataset.Test {
			y := float64(truth.Units[row])
			tally.Add(y, 1, truth.Mean(row), truth.Median(row), math.Log1p(y), truth.LogMean(row))
		}
	}
	return tally.Score(), nil
}

// next lists commands for the files of the demonstration.
func (c *demoCommand) next(b *strings.Builder, table, file string) {
	predictions, plain := filepath.Join(c.Dir, "predictions.csv"), filepath.Join(c.Dir, "plain.kft")
	b.WriteString("\nWhat to try next:\n")
	for _, command := range []struct {
		words []string
		why   string
	}{
		{[]string{"predict", file, "--cell", "store=S001,item=A0001,time=2024-12"}, "one cell, in the table or not"},
		{[]string{"predict", file, table, "-o", predictions}, "the whole table"},
		{[]string{"inspect", file}, "the terms, scores and history of the model"},
		{[]string{"evaluate", file, table, "--part", "test"}, "the scores on the test set"},
		{[]string{"fit", table, "--target", "units", "--modes", "store,item,time=year+month", "--rank", "10", "-o", plain},
			"a model without the transform and the second term, for comparison"},
		{[]string{"init", table}, "start as with your own table; then run kft fit"},
	} {
		fmt.Fprintf(b, "  kft %s\n      %s\n", textformat.QuoteAll(command.words), command.why)
	}
}
