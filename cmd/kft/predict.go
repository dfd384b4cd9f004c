package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// predictCommand predicts a table or single cells.
type predictCommand struct {
	Model     string   `arg:"" complete:"file" help:"The model file."`
	Table     string   `arg:"" optional:"" complete:"file" help:"CSV or TSV with the columns of the modes, plain or gzip; - is standard input."`
	Output    string   `short:"o" placeholder:"FILE" complete:"file" help:"Where the predictions go, compressed where the name ends in .gz (default: standard output)."`
	Cell      []string `sep:"none" placeholder:"CELL" help:"Predict one cell, as in store=2106,item=11776,time=2016-12. May be repeated."`
	Strict    bool     `help:"Refuse ids that the model has not seen."`
	Delimiter string   `placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Of the table (default: auto)."`
	Header    string   `placeholder:"H" values:"auto,yes,no" help:"Whether the first row names the columns (default: auto)."`
	Threads   int      `placeholder:"N" help:"Threads to use (default: as many as there are processors)."`
	JSON      bool     `name:"json" help:"With --cell: print one JSON object a line."`
	Quiet     bool     `short:"q" help:"Say nothing about unknown ids."`
}

// Help is shown by kft predict --help.
func (*predictCommand) Help() string {
	return `Writes the table as it is with three columns added: prediction (the mean), median, and unknown, which names the modes whose id the model has not seen; such an id is predicted by the average.

Examples:

    kft predict model.kft sales.csv -o predictions.csv
    kft predict model.kft --cell store=S001,item=A0001,time=2024-12`
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
	case c.Threads < 0:
		return usagef("--threads: %d is not a number of threads; give 1 or more, or leave it out", c.Threads)
	}
	if c.Output != "" && c.Output != "-" {
		if err := checkTarget(c.Output, []string{c.Table, c.Model}); err != nil {
			return err
		}
	}
	m, err := kft.Load(c.Model)
	if err != nil {
		return err
	}
	if len(c.Cell) > 0 {
		return c.cells(e, m)
	}
	return c.table(e, m)
}

func (c *predictCommand) table(e *env, m *kft.Model) error {
	format, err := (&dataFlags{Delimiter: c.Delimiter, Header: c.Header}).format(e.stdin)
	if err != nil {
		return err
	}
	opt := kft.TableOptions{Threads: c.Threads, Format: format, Strict: c.Strict}
	var sum kft.Summary
	predict := func(w io.Writer) (err error) {
		sum, err = m.PredictFile(e.ctx, c.Table, w, opt)
		return err
	}
	switch {
	case c.Output == "" || c.Output == "-":
		out := bufio.NewWriterSize(e.stdout, 1<<16)
		if err = predict(out); err == nil {
			err = out.Flush()
		}
	case strings.HasSuffix(c.Output, ".gz"):
		err = atomicfile.Write(c.Output, func(w io.Writer) error {
			// Speed before size: the text goes out as fast as it is made.
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err != nil {
				return err
			}
			if err := predict(z); err != nil {
				return err
			}
			return z.Close()
		})
	default:
		err = atomicfile.Write(c.Output, predict)
	}
	if err != nil {
		return aboutInput(err)
	}
	if !c.Quiet {
		writeUnknown(e.stderr, m, sum, c.Output)
	}
	return nil
}

// aboutInput returns the error about the input within err, which the writer of
// the output may have wrapped in words about the output.
func aboutInput(err error) error {
	var input *dataset.InputError
	var unknown *kft.UnknownError
	switch {
	case errors.As(err, &input):
		return input
	case errors.As(err, &unknown):
		return unknown
	}
	return err
}

// writeUnknown says how many rows there were and how many had unknown ids.
func writeUnknown(w io.Writer, m *kft.Model, sum kft.Summary, output string) {
	where := ""
	if output != "" && output != "-" {
		where = " in " + output
	}
	fmt.Fprintf(w, "%s predicted%s\n", plural(sum.Rows, "row"), where)
	for i, n := range sum.Unknown {
		if n > 0 {
			fmt.Fprintf(w, "%s with an unknown %s, predicted by the average; the column unknown marks them\n", plural(n, "row"), m.Modes()[i].Name)
		}
	}
}

type cellReport struct {
	Cell       kft.Cell `json:"cell"`
	Prediction float64  `json:"prediction"`
	Median     float64  `json:"median"`
	Unknown    []string `json:"unknown"`
}

func (c *predictCommand) cells(e *env, m *kft.Model) error {
	cells := make([]kft.Cell, len(c.Cell))
	for i, text := range c.Cell {
		cell, err := parseCell(text)
		if err != nil {
			return err
		}
		cells[i] = cell
	}
	predictions, err := m.Predict(cells)
	if err != nil {
		return usagef("--cell: %v", err)
	}
	var b strings.Builder
	for i, p := range predictions {
		if c.Strict && len(p.Unknown) > 0 {
			mode := p.Unknown[0]
			return fmt.Errorf("--cell %s: mode %s has no id %q in the model; leave out --strict to predict it by the average", c.Cell[i], mode, cells[i][mode])
		}
		if c.JSON {
			text, err := json.Marshal(cellReport{cells[i], p.Mean, p.Median, append([]string{}, p.Unknown...)})
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s\n", text)
			continue
		}
		fmt.Fprintf(&b, "%s: prediction %s, median %s", c.Cell[i], number(p.Mean), number(p.Median))
		if len(p.Unknown) > 0 {
			fmt.Fprintf(&b, "; unknown: %s", strings.Join(p.Unknown, ", "))
		}
		b.WriteString("\n")
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// parseCell reads store=2106,item=11776. A piece without = belongs to the id
// before it, which then holds a comma.
func parseCell(text string) (kft.Cell, error) {
	cell := kft.Cell{}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		mode, id, ok := strings.Cut(piece, "=")
		mode = strings.TrimSpace(mode)
		switch _, again := cell[mode]; {
		case !ok && last == "":
			return nil, usagef("--cell: %q is not a cell; write store=2106,item=11776,time=2016-12", text)
		case !ok:
			cell[last] += "," + piece
			continue
		case again:
			return nil, usagef("--cell: %q names %s twice", text, mode)
		}
		cell[mode] = id
		last = mode
	}
	return cell, nil
}

func number(v float64) string { return fmt.Sprintf("%.5g", v) }
