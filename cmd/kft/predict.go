package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// predictCommand predicts a table or single cells.
type predictCommand struct {
	Model     string   `arg:"" complete:"file" help:"The model file."`
	Table     string   `arg:"" optional:"" complete:"file" help:"The table with the columns of the modes: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input."`
	Output    string   `short:"o" placeholder:"FILE" complete:"file" help:"Where the predictions go, as the name says: text, .gz or .zst compressed, .parquet or .arrow (default: standard output)."`
	Cell      []string `sep:"none" placeholder:"CELL" help:"Predict one cell, as in store=2106,item=11776,time=2016-12; the columns of a mode will do too, year=2016,month=12. May be repeated."`
	Quantiles string   `placeholder:"P,..." help:"Levels of quantiles to add, as in .05,.5,.95: columns q0.05, q0.5, q0.95. With --cell: those printed (default there: .05,.95)."`
	Samples   *int     `placeholder:"N" help:"Add so many draws, columns sample_1 to sample_N. A draw is of the whole table: add up its rows for a draw of the sum."`
	Strict    bool     `help:"Refuse ids of which the model knows nothing."`
	JSON      bool     `name:"json" help:"With --cell: print one JSON object a line."`
	Quiet     bool     `short:"q" help:"Say nothing about unknown ids."`
	tableFlags
}

// Help is shown by kft predict --help.
func (*predictCommand) Help() string {
	return `Writes the table as it is with columns added: prediction (the mean), median, sd with its parts sd_model (what is not known of the model) and sd_noise (what no model knows), quantiles and samples where asked for, and unknown, which names the modes whose id the model has not seen; such an id is predicted by the average. An id that has a side row, be it in the side table of the fit, in one given by --side or by the mode's own columns, is predicted from that row, and unknown says so: store:side.

Quantiles of single cells do not add up to those of their sum; samples do: the sum of sample_7 over the rows of a store is a draw of that store's total.

Examples:

    kft predict model.kft sales.csv -o predictions.csv
    kft predict model.kft --cell store=S001,item=A0001,time=2024-12
    kft predict model.kft sales.csv --quantiles .05,.5,.95 --samples 100 -o predictions.parquet
    kft predict model.kft plans.csv --side store=new_stores.csv -o predictions.csv`
}

// Run predicts.
func (c *predictCommand) Run(e *env) error {
	switch {
	case c.Table == "" && len(c.Cell) == 0:
		return usagef("nothing to predict: give a table, as in kft predict %s TABLE, or a cell by --cell", quote(c.Model))
	case c.Table != "" && len(c.Cell) > 0:
		return usagef("give a table or --cell, not both")
	case len(c.Cell) == 0 && c.JSON:
		return usagef("--json goes with --cell; a table is predicted as a table")
	case len(c.Cell) > 0 && c.Output != "":
		return usagef("-o goes with a table; cells are answered on standard output")
	case c.Samples != nil && len(c.Cell) > 0:
		return usagef("--samples goes with a table: it draws the sum of many cells; for one cell give --quantiles")
	case c.Samples != nil && (*c.Samples < 1 || *c.Samples > kft.MaxSamples):
		return usagef("--samples: %d is not a number of draws; give 1 to %d, or leave it out", *c.Samples, kft.MaxSamples)
	}
	levels, err := parseLevels(c.Quantiles)
	if err != nil {
		return err
	}
	inputs, err := c.inputs(c.Table)
	if err != nil {
		return err
	}
	if c.Output != "" && c.Output != "-" {
		if err := checkTarget(c.Output, append(inputs, c.Model)); err != nil {
			return err
		}
	}
	output, err := tableio.OutputFor(c.Output)
	if err != nil {
		return usagef("-o: %v", err)
	}
	m, opt, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	if err := m.CheckQuantiles(levels); err != nil {
		return err
	}
	if len(c.Cell) > 0 {
		return c.cells(e, m, levels)
	}
	opt.Strict, opt.Output, opt.Quantiles = c.Strict, output, levels
	if c.Samples != nil {
		opt.Samples = *c.Samples
	}
	return c.table(e, m, opt)
}

func (c *predictCommand) table(e *env, m *kft.Model, opt kft.TableOptions) (err error) {
	var sum kft.Summary
	var failed error // of the prediction itself; an error of the output is another
	predict := func(w io.Writer) (err error) {
		out := &watched{Writer: w}
		sum, err = m.PredictTable(e.ctx, kft.Files(c.Table), out, opt)
		if out.err == nil {
			failed = err
		}
		return err
	}
	switch {
	case c.Output == "" || c.Output == "-":
		out := bufio.NewWriterSize(e.stdout, 1<<16)
		if err = predict(out); err == nil {
			err = out.Flush()
		}
	default:
		err = atomicfile.Write(c.Output, predict)
	}
	if failed != nil {
		return failed // without the words about the output that its writer put before it
	}
	if err != nil {
		return err
	}
	if !c.Quiet {
		writeUnknown(e.stderr, m, sum, c.Output, c.Side)
	}
	return nil
}

// parseLevels reads .05,.5,.95.
func parseLevels(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var levels []float64
	for piece := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(piece), 64)
		if err != nil {
			return nil, usagef("--quantiles: %q is not a number; write levels such as .05,.5,.95", piece)
		}
		levels = append(levels, p)
	}
	return levels, nil
}

// watched is a writer that remembers its error.
type watched struct {
	io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// writeUnknown says how many rows there were and how many had unknown ids.
func writeUnknown(w io.Writer, m *kft.Model, sum kft.Summary, output string, side []string) {
	where := ""
	if output != "" && output != "-" {
		where = " in " + output
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s predicted%s\n", plural(sum.Rows, "row"), where)
	writeSources(&b, m, sum, "; the column unknown marks them")
	writeUnmatched(&b, m, sum, side)
	io.WriteString(w, b.String())
}
