package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// demoCommand shows the whole product on a table whose truth is known.
type demoCommand struct {
	Dir     string `default:"kft-demo" placeholder:"DIR" complete:"dir" help:"Where the table and the model go (default: ./kft-demo)."`
	Seed    uint64 `default:"1" placeholder:"N" help:"Of the table and of training, 1 or more (default: 1)."`
	Threads int    `placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
	Quiet   bool   `short:"q" help:"Say nothing while working."`
}

// Help is shown by kft demo --help.
func (*demoCommand) Help() string {
	return `Makes a table of units sold by store, item and month, about a quarter of a million rows, from a known truth; trains on it by the command it prints; and compares the model with simple formulas and with the best that anybody could predict, who knew the truth. Needs nothing and takes less than half a minute.

Example:

    kft demo`
}

const demoSplit = "random:60/20/20"

// Run makes the table, trains by way of the command line and says what is next.
func (c *demoCommand) Run(e *env) error {
	if c.Seed == 0 {
		return usagef("--seed: must be 1 or more")
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", c.Dir, err)
	}
	truth := synthetic.New(synthetic.Default(c.Seed))
	table, file := filepath.Join(c.Dir, "sales.csv"), filepath.Join(c.Dir, "model.kft")
	if err := atomicfile.Write(table, truth.WriteCSV); err != nil {
		return err
	}
	fit := []string{"fit", "--data", table, "--target", "units", "--modes", "store,item,time=year+month",
		"--term", "store,item,time:6", "--term", "store*item", "--transform", "log1p", "--split", demoSplit,
		"--seed", fmt.Sprint(c.Seed), "-o", file}
	fmt.Fprintf(e.stdout, "Made %s: %s of units sold by store, item and month, from a known truth.\n\n$ kft %s\n\n",
		table, plural(truth.Len(), "row"), quoteAll(fit))
	// What does not change the result is left out of the command shown.
	fit = append(fit, "--force", "--threads", fmt.Sprint(c.Threads))
	if c.Quiet {
		fit = append(fit, "--quiet")
	}
	if code := run(e.ctx, fit, e.stdin, e.stdout, e.stderr); code != exitGood {
		return errors.New("the demonstration ended early")
	}
	best, err := c.oracle(truth)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nWho knew the truth, and only had the noise to fight, would reach on test:\nR2 %s, MAE %s, R2 log1p %s. No model can do better but by luck.\n",
		ratio(best.R2), amount(best.MAE), ratio(best.R2Scale))
	c.next(&b, table, file)
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// oracle scores the truth on the test part of the fit. The table has neither
// missing targets nor repeated cells, so that its split depends on the number
// of rows and the seed alone.
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

// next lists commands that work on what the demonstration left.
func (c *demoCommand) next(b *strings.Builder, table, file string) {
	predictions, plain := filepath.Join(c.Dir, "predictions.csv"), filepath.Join(c.Dir, "plain.kft")
	b.WriteString("\nWhat to try next:\n")
	for _, command := range []struct {
		words []string
		why   string
	}{
		{[]string{"predict", file, "--cell", "store=S001,item=A0001,time=2024-12"}, "one cell, seen or not"},
		{[]string{"predict", file, table, "-o", predictions}, "the whole table"},
		{[]string{"inspect", file}, "what the model is made of"},
		{[]string{"evaluate", file, table, "--part", "test"}, "the score again, from the file"},
		{[]string{"fit", "--data", table, "--target", "units", "--modes", "store,item,time=year+month", "--rank", "10", "-o", plain},
			"without the logarithm and the pairs: worse"},
		{[]string{"init", table}, "begin as with a table of your own; then: kft fit"},
	} {
		fmt.Fprintf(b, "  kft %s\n      %s\n", quoteAll(command.words), command.why)
	}
}
