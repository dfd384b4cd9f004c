package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// forecastCommand forecasts the series of a model.
type forecastCommand struct {
	Model     string   `arg:"" complete:"file" help:"Model file."`
	Horizon   *int     `from:"1" placeholder:"H" help:"Number of periods after the last training period, as in 6 (default: that of kft fit --forecast)."`
	Only      []string `sep:"none" placeholder:"MODE=ID,..." help:"Only series with these ids, as in store=2106,2113 or item.vendor=260. Ids may contain commas. May be repeated; different modes must all match."`
	Active    int      `from:"1" placeholder:"N" help:"Only series with a training row in the last N periods (default: all series)."`
	Level     string   `placeholder:"L,..." help:"Levels of central intervals in percent, as in 80,95, which gives the columns lo-80, hi-80, lo-95, hi-95 (default: 90)."`
	Quantiles string   `placeholder:"P,..." help:"Levels of quantiles, as in .1,.5,.9, which adds the columns q0.1, q0.5, q0.9 (default: none)."`
	Draws     int      `from:"1" to:"10000" placeholder:"N" help:"Add N joint draws, columns sample_1 to sample_N (default: none; totals are computed from 200)."`
	By        string   `placeholder:"GROUPS" help:"Write totals by group instead of cells: total, or modes and groups, as in store or store,item.vendor."`
	Future    string   `placeholder:"TABLE" complete:"file" help:"Forecast the rows of this table, which has the columns of the modes and of covariates that are known in advance, instead of every series and period."`
	Output    string   `short:"o" placeholder:"FILE" complete:"file" help:"File to write; the ending chooses the format: text, .gz or .zst compressed, .parquet or .arrow (default: standard output)."`
	Quiet     bool     `short:"q" help:"Print no notes; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft forecast --help.
func (*forecastCommand) Help() string {
	return `Writes a table in long form: the columns that identify a cell, with the next periods in the format of the table, then mean, median and the ends of the 90 % interval, lo-90 and hi-90. Every series of the model is forecast: every combination of ids of the other modes that has training rows. New ids are named by --only and described by a side table, --side.

Totals by group (--by) are sums of joint draws, so their intervals include the errors that the cells have in common. The draws add up exactly: the sum of the totals by store is the total of all cells.

Examples:

    kft forecast model.kft -o forecast.csv
    kft forecast model.kft --horizon 6 -o forecast.csv
    kft forecast model.kft --horizon 3 --only store=S001 --level 80,95
    kft forecast model.kft --horizon 12 --by store -o stores.parquet
    kft forecast model.kft --future plans.csv -o forecast.csv`
}

// Run forecasts.
func (c *forecastCommand) Run(e *env) error {
	opt := kft.ForecastOptions{Only: c.Only, Active: c.Active, Draws: c.Draws, By: c.By, Threads: c.Threads}
	var err error
	if opt.Quantiles, err = parseLevels(c.Quantiles); err != nil {
		return err
	}
	for piece := range strings.SplitSeq(c.Level, ",") {
		if c.Level == "" {
			break
		}
		level, err := strconv.ParseFloat(strings.TrimSpace(piece), 64)
		if err != nil {
			return usagef("--level: %q is not a number; use percentages such as 80,95", piece)
		}
		opt.Levels = append(opt.Levels, level)
	}
	var tables []string
	if c.Future != "" {
		tables = append(tables, c.Future)
		opt.Future = kft.Files(c.Future)
	}
	inputs, err := c.inputs(tables...)
	if err == nil && c.Output != "" && c.Output != "-" && e.leads() {
		err = checkOutput(c.Output, append(inputs, c.Model))
	}
	if err := e.agree(err); err != nil {
		return err
	}
	if opt.Output, err = tableio.OutputFor(c.Output); err != nil {
		return usagef("-o: %v", err)
	}
	flags := c.tableFlags
	flags.Side, opt.Side = nil, c.Side // the forecast also takes groups from side tables
	m, table, err := flags.open(e, c.Model)
	if err := e.agree(err); err != nil {
		return err
	}
	if c.Horizon == nil && c.Future == "" {
		periods := split.LastPeriods(m.Spec().Split)
		if periods == 0 {
			return usagef("the number of periods is missing; add it, as in --horizon 6, or give the cells to forecast by --future")
		}
		c.Horizon = &periods
	}
	if c.Horizon != nil {
		opt.Horizon = *c.Horizon
	}
	if e.ranks != nil && c.By != "" {
		return usagef("totals (--by) need one process; leave out mpirun")
	}
	if opt.Output.Share, err = e.shareTable(m, c.Model, tables); err != nil {
		return err
	}
	opt.Threads = e.threads(c.Threads)
	opt.Format = table.Format
	return c.write(e, m, opt)
}

func (c *forecastCommand) write(e *env, m *kft.Model, opt kft.ForecastOptions) error {
	var sum kft.ForecastSummary
	if err := writeTable(e, c.Output, func(w io.Writer) (err error) {
		sum, err = m.Forecast(e.together(), w, opt)
		return err
	}); err != nil {
		return err
	}
	if !c.Quiet && m.Record().Periods == nil { // first, because it is the remedy of most warnings
		horizon := "H"
		if c.Horizon != nil {
			horizon = strconv.Itoa(*c.Horizon)
		}
		fmt.Fprintf(e.stderr, "note: this model was not fitted for forecasts; kft fit TABLE --forecast %s fits one that is chosen and measured on later periods\n", horizon)
	}
	for _, warning := range sum.Warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", nameFlags(warning, e.hasFlag))
	}
	if c.Quiet {
		return nil
	}
	where := ""
	if c.Output != "" && c.Output != "-" {
		where = " in " + c.Output
	}
	what := textformat.Plural(sum.Cells, "cell")
	if sum.Series > 0 {
		what = textformat.Count(sum.Series) + " series"
	}
	periods := sum.First
	if sum.Last != sum.First {
		periods += " to " + sum.Last
	}
	if sum.Own {
		periods = textformat.Plural(*c.Horizon, "period") + " after the end of each"
	} else {
		periods = "for " + periods
	}
	fmt.Fprintf(e.stderr, "forecasts of %s %s: %s%s\n", what, periods, textformat.Plural(sum.Rows, "row"), where)
	return nil
}
