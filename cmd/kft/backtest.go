package main

import (
	"fmt"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// backtestCommand measures forecasts on rolling origins.
type backtestCommand struct {
	specFlags

	Windows int      `from:"1" group:"backtest" default:"4" placeholder:"N" help:"Number of origins (default: 4)."`
	Horizon int      `from:"1" group:"backtest" default:"3" placeholder:"H" help:"Number of periods to forecast from each origin (default: 3)."`
	Step    int      `from:"1" group:"backtest" default:"1" placeholder:"N" help:"Number of periods from one origin to the next (default: 1)."`
	By      []string `sep:"none" group:"backtest" placeholder:"GROUPS" help:"Also measure totals by group and period: total, or modes and columns of side tables, as in store or store,item.vendor. May be repeated (default: none)."`
	Keep    bool     `group:"backtest" help:"Keep what the first origin chose: scale, terms, ranks and noise. Only the weights are learned again at every origin."`
	Output  string   `short:"o" group:"backtest" placeholder:"FILE" complete:"file" help:"Also write a model that is trained on all rows, with intervals calibrated by horizon on the forecasts of all origins (default: none)."`
	Format  string   `group:"backtest" default:"text" placeholder:"F" values:"text,json,csv" help:"Format of the scores: text, json or csv (default: text)."`
	Threads int      `from:"0" to:"4096" group:"run" placeholder:"N" help:"Number of threads (default: all CPUs)."`
	Quiet   bool     `short:"q" group:"run" help:"Print no progress and no notes; warnings stay on standard error."`
}

// Help is shown by kft backtest --help.
func (*backtestCommand) Help() string {
	return `Trains a model at each of several origins on the rows up to it, forecasts the periods after it and compares the forecasts with the values. The last origin is the horizon before the end of the table. Measures by horizon: MAE of the medians, RMSE and R2 of the means, R2 of log(1 + value) by its own predicted mean, WAPE (sum of absolute errors by sum of values), bias (predicted by actual total), MASE and RMSSE (errors by the mean change of the series from one training row to the next), pinball loss, coverage and width of 90 % intervals. Beside the model: mean, last value, drift (the line from the first to the last value, continued) and same period of the last season of each series, and the mix of them that was best before the origin. None of them knows a row after the origin. With --by, sums over the cells of a group that have a value are measured in the same way; their distribution is that of sums of joint draws, as in kft forecast --by. The split of the specification is not used.

Examples:

    kft backtest sales.csv
    kft backtest sales.csv --by total --by store
    kft backtest --spec kft.yaml --windows 6 --horizon 3 --step 3 --keep
    kft backtest sales.csv --horizon 6 -o model.kft
    kft backtest sales.csv --format csv > scores.csv`
}

// Run measures.
func (c *backtestCommand) Run(e *env) error {
	c.future = true
	spec, given, err := c.specification(e, c.Quiet)
	if err != nil {
		return err
	}
	switch {
	case !given || len(spec.Data.Files) == 0:
		return usagef("no table given; use kft backtest TABLE, or create %s with kft init TABLE first", defaultSpecFile)
	case c.Format != "text" && c.Format != "json" && c.Format != "csv":
		return usagef("--format: %s is not a format; use text, json or csv", c.Format)
	}
	inputs := append(sideFiles(spec.Side.Tables), spec.Data.Files...)
	if err := checkInputs(inputs); err != nil {
		return err
	}
	if c.Output != "" {
		if _, err := tableio.OutputFor(c.Output); err == nil && filepath.Ext(c.Output) != "" {
			return usagef("-o writes a model, as in tested.kft; write the scores by --format csv > %s", c.Output)
		}
		if err := checkOutput(c.Output, inputs); err != nil {
			return err
		}
	}
	opt := kft.BacktestOptions{Windows: c.Windows, Horizon: c.Horizon, Step: c.Step, By: c.By, Keep: c.Keep, Model: c.Output != "", Train: kft.Options{Threads: c.Threads, Stdin: e.stdin}}
	if !c.Quiet {
		opt.Progress = func(text string) { fmt.Fprintln(e.stderr, text) }
	}
	result, m, err := kft.RunBacktest(e.ctx, spec, kft.Source{}, opt)
	if err != nil {
		return err
	}
	if m != nil {
		if err := m.Save(c.Output); err != nil {
			return err
		}
	}
	for _, warning := range result.Warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", nameFlags(warning, e.hasFlag))
	}
	switch c.Format {
	case "json":
		return writeJSON(e.stdout, result)
	case "csv":
		return summary.WriteBacktestCSV(e.rawOut, result)
	}
	return summary.WriteBacktest(e.stdout, result, c.Output)
}
