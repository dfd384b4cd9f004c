package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// plotCalibrationCommand draws maps of the coverage of intervals.
type plotCalibrationCommand struct {
	Model  string   `arg:"" complete:"file" help:"Model file."`
	Tables []string `arg:"" name:"table" complete:"file" help:"Table with the target: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. Several tables require --part."`
	By     string   `required:"" placeholder:"MODE" help:"Mode of the map's rows, as in store."`
	Time   string   `placeholder:"MODE" help:"Mode of the map's columns (default: the last mode of the model)."`
	Part   string   `placeholder:"PART" values:"train,valid,test" help:"Only the rows that were in the training (train), validation (valid) or test set of the fit; the table must be the one of the fit (default: all rows)."`
	Output string   `short:"o" default:"calibration" placeholder:"PREFIX" complete:"file" help:"Prefix of the files to write (default: calibration)."`
	Quiet  bool     `short:"q" help:"Print no notes; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft plot calibration --help.
func (*plotCalibrationCommand) Help() string {
	return `Plots, for 90, 70, 50, 30 and 10 % intervals, the share of values inside, by the ids of two modes, as SVG: calibration-90.svg and so on. If the intervals are calibrated, the whole map has the middle colour of its scale, except for random variation. A row or column of another colour is an id whose intervals are too narrow or too wide.

Example:

    kft plot calibration model.kft sales.csv --by store --part test -o store`
}

// Run counts and draws.
func (c *plotCalibrationCommand) Run(e *env) error {
	part, err := parsePart(c.Part, c.Tables)
	if err != nil {
		return err
	}
	inputs, err := c.inputs(append(c.Tables, c.Model)...)
	if err != nil {
		return err
	}
	for _, file := range c.files() {
		if err := checkOutput(file, inputs); err != nil {
			return err
		}
	}
	m, table, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	opt := kft.MapOptions{TableOptions: table, Rows: c.By, Columns: c.Time, Part: part}
	coverage, err := m.Map(e.ctx, kft.Files(c.Tables...), opt)
	var wrong *kft.ModeError
	if errors.As(err, &wrong) {
		flag := "--by"
		if wrong.Mode != c.By {
			flag = "--time"
		}
		return usagef("%s: %v", flag, err)
	}
	if err != nil {
		return err
	}
	return c.draw(e, coverage)
}

// draw writes an SVG per level.
func (c *plotCalibrationCommand) draw(e *env, coverage *kft.CoverageMap) error {
	for level, file := range c.files() {
		if err := atomicfile.Write(file, func(w io.Writer) error { return coverage.WriteSVG(w, level, coverage.Labels) }); err != nil {
			return err
		}
	}
	if c.Quiet {
		return nil
	}
	_, err := fmt.Fprintf(e.stdout, "%s by %s and %s: wrote %s\n", textformat.Plural(coverage.N, "value"), coverage.Labels.RowMode, coverage.Labels.ColumnMode, strings.Join(c.files(), ", "))
	return err
}

// files returns the files to write, one per level.
func (c *plotCalibrationCommand) files() []string {
	var files []string
	for _, level := range metrics.IntervalLevels {
		files = append(files, fmt.Sprintf("%s-%.0f.svg", c.Output, math.Round(100*level)))
	}
	return files
}

// parsePart parses --part. It returns Unused if the flag is not given.
func parsePart(text string, tables []string) (dataset.Part, error) {
	part, known := map[string]dataset.Part{"": dataset.Unused, "train": dataset.Train, "valid": dataset.Valid, "validation": dataset.Valid, "test": dataset.Test}[text]
	switch {
	case !known:
		return part, usagef("--part: %q is not a part%s; use train, valid or test", text, suggest.Hint(text, []string{"train", "valid", "test"}))
	case text == "" && len(tables) > 1:
		return part, usagef("several tables require --part; use one table, or add --part")
	}
	return part, nil
}
