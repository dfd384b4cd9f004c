package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/spec"
)

// calibrateCommand recalibrates a model: it computes a new conformal correction.
type calibrateCommand struct {
	Model     string   `arg:"" complete:"file" help:"Model file."`
	Tables    []string `arg:"" name:"table" complete:"file" help:"Table with the target and rows that the fit has not used: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. Several tables require --part."`
	Part      string   `placeholder:"PART" values:"valid,test" help:"Only the rows that were in the validation (valid) or test set of the fit; the table must be the one of the fit (default: all rows)."`
	Output    string   `short:"o" placeholder:"FILE" complete:"file" help:"Model file to write (default: replace MODEL)."`
	Conformal string   `placeholder:"KIND" values:"split,group:mean,group:,horizon" help:"Rows that share a correction: split (all), group:mean (by size of the prediction), group:MODE, as in group:store, or horizon (by size, with a factor per period ahead) (default: as in the model, else split)."`
	Quiet     bool     `short:"q" help:"Print no report; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft calibrate --help.
func (*calibrateCommand) Help() string {
	return `Compares the values of new rows with their predictive distributions and corrects the distributions, so that 90 of 100 similar rows lie inside their 90 % intervals. This requires at least 19 rows for 90 % intervals and 1,999 rows for 99.9 %; a group has its own correction from 200 rows on. The rows must not have been used for the fit, because errors on training rows are too small. The correction replaces that of the model. Quantiles, sd and samples change, and so does the correction of means by size.

Examples:

    kft calibrate model.kft next-month.csv -o calibrated.kft
    kft calibrate model.kft next-month.csv --conformal group:store
    kft calibrate model.kft sales.csv --part valid --conformal group:mean`
}

// Run recalibrates.
func (c *calibrateCommand) Run(e *env) error {
	if c.Conformal == "none" || c.Conformal == "auto" {
		return usagef("--conformal: %s is not a correction that can be computed from data; use split, group:mean, group:MODE or horizon", c.Conformal)
	}
	part, err := parsePart(c.Part, c.Tables)
	if err != nil {
		return err
	}
	if c.Part == "train" {
		return usagef("--part: errors on training rows are too small for a calibration; use valid or test")
	}
	if c.Output, err = c.changedModel(c.Model, c.Output, c.Tables); err != nil {
		return err
	}
	m, opt, err := c.openWhole(e, c.Model)
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
	var calibrated *kft.Model
	var sum kft.Summary
	if c.Part != "" {
		calibrated, sum, err = m.RecalibratePart(e.ctx, kft.Files(c.Tables...), part, kind, opt)
	} else {
		calibrated, sum, err = m.Recalibrate(e.ctx, kft.Files(c.Tables...), kind, opt)
	}
	if err != nil {
		return conformalProblem(err)
	}
	if sum.Fitted && c.Output == c.Model {
		return usagef("%s is the table of the fit, and intervals that suit its training rows are too narrow for other rows: %s would be replaced by a worse model; calibrate with rows that the fit has not used, as --part test does, or name another model file with -o", c.Tables[0], c.Model)
	}
	if err := calibrated.Save(c.Output); err != nil {
		return err
	}
	warning := ""
	for _, text := range sum.Warnings {
		warning += fmt.Sprintf("warning: %s\n", nameFlags(text, e.hasFlag))
	}
	if sum.Fitted {
		warning += fmt.Sprintf("warning: %s is the table of the fit: intervals that suit its training rows are too narrow for other rows; calibrate with rows that the fit has not used, as --part test does\n", c.Tables[0])
	}
	if c.Quiet {
		_, err := io.WriteString(e.stderr, warning)
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Wrote %s: %s\n", c.Output, summary.Conformal(calibrated.Uncertainty().Conformal))
	summary.WriteUnseen(&b, calibrated, sum, "")
	b.WriteString(warning)
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// conformalProblem names the flag of a problem with the kind of correction.
func conformalProblem(err error) error {
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
