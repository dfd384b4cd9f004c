package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/celltext"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// plotForecastCommand draws series.
type plotForecastCommand struct {
	Model  string   `arg:"" complete:"file" help:"Model file."`
	Tables []string `arg:"" optional:"" name:"table" complete:"file" help:"Table of the fit (default: the one that the model names)."`
	Output string   `endings:".svg" short:"o" default:"forecast.svg" placeholder:"FILE" complete:"file" help:"SVG picture to write (default: forecast.svg)."`
	Series []string `sep:"none" placeholder:"CELL" help:"Draw this series, as in store=2106,item=11776. May be repeated (default: the six with the most rows)."`
	Ahead  int      `from:"0" name:"horizon" default:"6" placeholder:"N" help:"Number of periods after the end of the table; 0 for none (default: 6)."`
	Quiet  bool     `short:"q" help:"Print no notes; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft plot forecast --help.
func (*plotForecastCommand) Help() string {
	return `Draws series, one below the other: the values of the table as dots, the median of each period as a line, its 90 % interval as a band, and the forecasts of the periods after the end of the table in another colour. The same pictures are part of kft report.

Example:

    kft plot forecast model.kft --horizon 12 --series store=S001,item=A0001`
}

// Run draws.
func (c *plotForecastCommand) Run(e *env) error {
	opt, m, err := seriesOptions(e, &c.tableFlags, c.Model, c.Tables, c.Output, c.Series, c.Ahead)
	if err != nil {
		return err
	}
	return writeAndSay(e, c.Output, c.Quiet, func(w io.Writer) error { return m.PlotSeries(e.ctx, w, opt) })
}

// writeAndSay writes a file and says so, unless quiet. An error of its content does not name the file.
func writeAndSay(e *env, file string, quiet bool, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	if err := atomicfile.Write(file, func(w io.Writer) error { _, err := content.WriteTo(w); return err }); err != nil || quiet {
		return err
	}
	_, err := fmt.Fprintf(e.stdout, "Wrote %s\n", file)
	return err
}

// seriesOptions opens a model for a report or a picture of its series.
func seriesOptions(e *env, flags *tableFlags, file string, tables []string, output string, series []string, horizon int) (kft.ReportOptions, *kft.Model, error) {
	var opt kft.ReportOptions
	inputs, err := flags.inputs(append([]string{file}, tables...)...)
	if err != nil {
		return opt, nil, err
	}
	if err := checkOutput(output, inputs); err != nil {
		return opt, nil, err
	}
	for _, text := range series {
		cell, err := celltext.Parse("--series", text)
		if err != nil {
			return opt, nil, err
		}
		opt.Series = append(opt.Series, cell)
	}
	m, table, err := flags.open(e, file)
	if err != nil {
		return opt, nil, err
	}
	opt.Table, opt.Horizon = table, horizon
	if horizon == 0 {
		opt.Horizon = -1
	}
	if len(tables) > 0 {
		source := kft.Files(tables...)
		opt.Source = &source
	}
	return opt, m, nil
}
