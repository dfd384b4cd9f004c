package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// predictCommand predicts a table or single cells.
type predictCommand struct {
	Model     string   `arg:"" complete:"file" help:"Model file."`
	Table     string   `arg:"" optional:"" complete:"file" help:"Table with the columns of the modes: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input."`
	Output    string   `short:"o" placeholder:"FILE" complete:"file" help:"File to write; the ending chooses the format: text, .gz or .zst compressed, .parquet or .arrow (default: standard output)."`
	Cell      []string `sep:"none" placeholder:"CELL" help:"Predict one cell, as in store=2106,item=11776,time=2016-12. The columns of a mode can be given instead: year=2016,month=12. The columns of weights and exposures may be given too. May be repeated."`
	Quantiles string   `placeholder:"P,..." help:"Levels of quantiles, as in .05,.5,.95, which adds the columns q0.05, q0.5, q0.95 (default: none; with --cell .05,.95)."`
	Samples   *int     `from:"1" to:"10000" placeholder:"N" help:"Add N joint samples, columns sample_1 to sample_N. One sample covers the whole table, so its sum over rows is a sample of the sum (default: none)."`
	Unknown   bool     `name:"allow-unknown" help:"Predict a table of which the model knows no id, instead of failing."`
	Strict    bool     `help:"Fail on ids that have neither training data nor side information."`
	JSON      bool     `name:"json" help:"With --cell: print one JSON object per cell and line."`
	Quiet     bool     `short:"q" help:"Print no notes; warnings stay on standard error."`
	Profile   string   `name:"cpuprofile" hidden:"" complete:"file" help:"Write a CPU profile to this file."`
	Pipe      bool     `hidden:"" help:"Answer requests on standard input until it ends, for programs that predict often."`
	tableFlags
}

// Help is shown by kft predict --help.
func (*predictCommand) Help() string {
	return `Writes the table with columns added: prediction (the mean), median, sd with its parts sd_model (uncertainty of the model) and sd_noise (noise of single observations), the requested quantiles and samples, and unseen, which names the modes whose id is not in the training data. Such an id is predicted by the prior. An id with side information (in the side table of the fit, in a table of --side, or computed from the id) is predicted from it, and unseen contains, for example, store:side. A model of several targets adds these columns for each target: units_prediction, revenue_prediction.

Quantiles of single cells cannot be added up to quantiles of their sum. Samples can: the sum of sample_7 over the rows of a store is a sample of the store's total.

Examples:

    kft predict model.kft sales.csv -o predictions.csv
    kft predict model.kft --cell store=S001,item=A0001,time=2024-12
    kft predict model.kft sales.csv --quantiles .05,.5,.95 --samples 100 -o predictions.parquet
    kft predict model.kft plans.csv --side store=new_stores.csv -o predictions.csv`
}

// Run predicts.
func (c *predictCommand) Run(e *env) error {
	stop, err := startProfile(c.Profile)
	if err != nil {
		return err
	}
	defer stop()
	switch {
	case c.Pipe:
		return c.answer(e)
	case c.Table == "" && len(c.Cell) == 0:
		return usagef("nothing to predict; add a table, as in kft predict %s TABLE, or a cell with --cell", textformat.Quote(c.Model))
	case c.Table != "" && len(c.Cell) > 0:
		return usagef("a table and --cell cannot be combined; use one of them")
	case len(c.Cell) == 0 && c.JSON:
		return usagef("--json requires --cell; the predictions of a table are a table")
	case len(c.Cell) > 0 && e.ranks != nil:
		return usagef("cells are predicted by one process; leave out mpirun")
	case len(c.Cell) > 0 && c.Output != "":
		return usagef("-o requires a table; predictions of cells go to standard output")
	case c.Samples != nil && len(c.Cell) > 0:
		return usagef("--samples requires a table; use --quantiles for single cells")
	}
	levels, err := parseLevels(c.Quantiles)
	if err != nil {
		return err
	}
	inputs, err := c.inputs(c.Table)
	if err != nil {
		return err
	}
	if c.Output != "" && c.Output != "-" && e.leads() {
		err = checkOutput(c.Output, append(inputs, c.Model))
	}
	if err := e.agree(err); err != nil {
		return err
	}
	output, err := tableio.OutputFor(c.Output)
	if err != nil {
		return usagef("-o: %v", err)
	}
	m, opt, err := c.openAny(e, c.Model)
	if err := e.agree(err); err != nil {
		return err
	}
	if err := m.CheckQuantiles(levels); err != nil {
		return err
	}
	if len(c.Cell) > 0 {
		models, err := modelsOf(m)
		if err != nil {
			return err
		}
		for _, one := range models {
			if err := c.cells(e, one, levels); err != nil {
				return err
			}
		}
		return nil
	}
	opt.Strict, opt.AllowUnknown, opt.Output, opt.Quantiles = c.Strict, c.Unknown, output, levels
	if c.Samples != nil {
		opt.Samples = *c.Samples
	}
	if opt.Output.Share, err = e.shareTable(m, c.Model, []string{c.Table}); err != nil {
		return err
	}
	opt.Threads = e.threads(opt.Threads)
	return c.table(e, m, opt)
}

// modelsOf returns the models of several targets, or the model itself.
func modelsOf(m *kft.Model) ([]*kft.Model, error) {
	models := []*kft.Model{m}
	for i, name := range m.Targets() {
		one, err := m.ForTarget(name)
		if err != nil {
			return nil, err
		}
		models = append(models[:i], one)
	}
	return models, nil
}

func (c *predictCommand) table(e *env, m *kft.Model, opt kft.TableOptions) error {
	var sum kft.Summary
	if err := writeTable(e, c.Output, func(w io.Writer) (err error) {
		sum, err = m.PredictTable(e.together(), kft.Files(c.Table), w, opt)
		return err
	}); err != nil {
		return err
	}
	for _, warning := range sum.Warnings { // also with --quiet: the numbers may mean nothing
		fmt.Fprintf(e.stderr, "warning: %s\n", nameFlags(warning, e.hasFlag))
	}
	if !c.Quiet {
		writePredicted(e.stderr, m, sum, c.Output, c.Side)
	}
	return nil
}

// writeTable writes a table to a file, completely or not at all, or to standard output. An
// error of make is returned without the context that the writer of the output adds.
func writeTable(e *env, output string, make func(w io.Writer) error) error {
	var failed error
	write := func(w io.Writer) error {
		out := &errorRecorder{Writer: w}
		err := make(out)
		if out.err == nil {
			failed = err
		}
		return err
	}
	var err error
	if !e.leads() {
		err = write(io.Discard)
	} else if output == "" || output == "-" {
		out := bufio.NewWriterSize(e.rawOut, 1<<16)
		if err = write(out); err == nil {
			err = out.Flush()
		}
	} else {
		err = atomicfile.Write(output, write)
	}
	if failed != nil {
		return failed
	}
	return err
}

// parseLevels parses .05,.5,.95.
func parseLevels(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	var levels []float64
	for piece := range strings.SplitSeq(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(piece), 64)
		if err != nil {
			return nil, usagef("--quantiles: %q is not a number; use levels such as .05,.5,.95", piece)
		}
		levels = append(levels, p)
	}
	return levels, nil
}

// errorRecorder is a writer that keeps its error.
type errorRecorder struct {
	io.Writer
	err error
}

func (w *errorRecorder) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// writePredicted writes how many rows were predicted and how many had unseen ids.
func writePredicted(w io.Writer, m *kft.Model, sum kft.Summary, output string, side []string) {
	where := ""
	if output != "" && output != "-" {
		where = " in " + output
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s predicted%s\n", textformat.Plural(sum.Rows, "row"), where)
	summary.WriteUnseen(&b, m, sum, "; the column unseen marks them")
	summary.WriteUnusedSide(&b, m, sum, side)
	io.WriteString(w, b.String())
}
