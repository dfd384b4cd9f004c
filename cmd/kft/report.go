package main

import (
	"io"
	"path/filepath"
)

// reportCommand writes a page about a model.
type reportCommand struct {
	Model  string   `arg:"" complete:"file" help:"Model file."`
	Tables []string `arg:"" optional:"" name:"table" complete:"file" help:"Table of the fit (default: the one that the model names, if it is there)."`
	Output string   `endings:".html,.htm" short:"o" default:"report.html" placeholder:"FILE" complete:"file" help:"Page to write (default: report.html)."`
	Series []string `sep:"none" placeholder:"CELL" help:"Draw the history of a cell, as in store=2106,item=11776. May be repeated (default: the six with the most rows)."`
	Ahead  int      `from:"0" name:"horizon" default:"6" placeholder:"N" help:"Number of periods after the end of the table that these cells are forecast for; 0 for none (default: 6)."`
	Quiet  bool     `short:"q" help:"Print no notes; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft report --help.
func (*reportCommand) Help() string {
	return `Writes one HTML file that can be sent to others: whether the model is better than simple formulas and whether its intervals hold, the data, scores, calibration, residuals, effects of ids with a search box, side information that matters, series with forecasts, the learning curve and the specification. The file needs no network and has at most 2 MB.

Scores by group, residuals, series and the importance of side information need the table of the fit. Without it the report has what the model knows, and says so.

Examples:

    kft report model.kft
    kft report model.kft sales.csv -o report.html --series store=S001,item=A0001`
}

// Run writes the report.
func (c *reportCommand) Run(e *env) error {
	opt, m, err := seriesOptions(e, &c.tableFlags, c.Model, c.Tables, c.Output, c.Series, c.Ahead)
	if err != nil {
		return err
	}
	opt.Name = filepath.Base(c.Model)
	return writeAndSay(e, c.Output, c.Quiet, func(w io.Writer) error { return m.Report(e.ctx, w, opt) })
}
