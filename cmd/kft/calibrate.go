package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/spec"
)

// calibrateCommand gives a model a conformal layer.
type calibrateCommand struct {
	Model     string `arg:"" complete:"file" help:"The model file."`
	Table     string `arg:"" complete:"file" help:"A table with the target, of rows that the fit has not seen: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input."`
	Output    string `short:"o" placeholder:"FILE" complete:"file" help:"Where the model goes (default: in place of MODEL)."`
	Conformal string `placeholder:"KIND" values:"split,group:mean,group:" help:"Which rows share a correction: split (all), group:mean (by size of the prediction) or group:MODE (default: what the model has, else split)."`
	Quiet     bool   `short:"q" help:"Say nothing."`
	tableFlags
}

// Help is shown by kft calibrate --help.
func (*calibrateCommand) Help() string {
	return `Looks where the values of new rows fall in the distributions that the model predicts for them, and corrects these so that of further rows like them 90 of 100 fall inside a 90 % interval. Needs 19 rows for that level, 1,999 for 99.9 %; a group of its own has 200 or more. The rows must have had no part in the fit: a model knows its training rows too well. The correction replaces the one the model has. Quantiles, sd and samples follow it; the mean stays as it is.

Example:

    kft calibrate model.kft next-month.csv -o calibrated.kft
    kft calibrate model.kft next-month.csv --conformal group:store`
}

// Run calibrates.
func (c *calibrateCommand) Run(e *env) error {
	if c.Output == "" {
		c.Output = c.Model
	}
	if c.Conformal == "none" || c.Conformal == "auto" {
		return usagef("--conformal: %s is no layer to make of data; write split, group:mean or group:MODE", c.Conformal)
	}
	inputs, err := c.inputs(c.Table)
	if err != nil {
		return err
	}
	if err := checkTarget(c.Output, inputs); err != nil {
		return err
	}
	if err := keepOthers(c.Output, ""); err != nil && c.Output != c.Model {
		return err
	}
	m, opt, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	kind := c.Conformal
	if kind == "" {
		kind = "split"
		if c := m.Uncertainty().Conformal; c != nil {
			kind = c.Kind
		}
	}
	calibrated, sum, err := m.Recalibrate(e.ctx, kft.Files(c.Table), kind, opt)
	if err != nil {
		return conformalFlag(err)
	}
	if err := calibrated.Save(c.Output); err != nil {
		return err
	}
	if c.Quiet {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Wrote %s: %s\n", c.Output, conformalWords(calibrated.Uncertainty().Conformal))
	writeSources(&b, calibrated, sum, "")
	if sum.Fitted {
		fmt.Fprintf(&b, "warning: %s is the table that the model was fitted to: intervals that fit its training rows are too narrow for others; calibrate on rows that had no part in the fit\n", c.Table)
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// conformalFlag names the flag of a problem with the kind of layer.
func conformalFlag(err error) error {
	var problems spec.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Message)
	}
	return usagef("--conformal: %s", strings.Join(texts, "; "))
}
