package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// backtestCommand measures forecasts on rolling origins.
type backtestCommand struct {
	specFlags

	Windows int    `group:"run" default:"4" placeholder:"N" help:"Number of origins (default: 4)."`
	Horizon int    `group:"run" default:"3" placeholder:"H" help:"Number of periods to forecast from each origin (default: 3)."`
	Step    int    `group:"run" default:"1" placeholder:"N" help:"Number of periods from one origin to the next (default: 1)."`
	Keep    bool   `group:"run" help:"Keep what the first origin chose: scale, terms, ranks and noise. Only the weights are learned again at every origin."`
	Output  string `short:"o" group:"run" placeholder:"FILE" complete:"file" help:"Also write a model that is trained on all rows, with intervals calibrated by horizon on the forecasts of all origins (default: none)."`
	Format  string `group:"run" default:"text" placeholder:"F" values:"text,json,csv" help:"Format of the scores: text, json or csv (default: text)."`
	Threads int    `group:"run" placeholder:"N" help:"Number of threads (default: all CPUs)."`
	Quiet   bool   `short:"q" group:"run" help:"Print no progress on standard error."`
}

// Help is shown by kft backtest --help.
func (*backtestCommand) Help() string {
	return `Trains a model at each of several origins on the rows up to it, forecasts the periods after it and compares the forecasts with the values. The last origin is the horizon before the end of the table. Measures by horizon: MAE of the medians, RMSE of the means, WAPE (sum of absolute errors by sum of values), bias (predicted by actual total), MASE and RMSSE (errors by the mean change of the series from one training row to the next), pinball loss, coverage and width of 90 % intervals. Beside the model: mean, last value and same period of the last season of each series, and the mix of the three that was best before the origin. None of them knows a row after the origin. The split of the specification is not used.

Examples:

    kft backtest sales.csv
    kft backtest --spec kft.yaml --windows 6 --horizon 3 --step 3 --keep
    kft backtest sales.csv --horizon 6 -o model.kft
    kft backtest sales.csv --format csv > scores.csv`
}

// Run measures.
func (c *backtestCommand) Run(e *env) error {
	spec, given, err := c.specification(e, c.Quiet)
	if err != nil {
		return err
	}
	switch {
	case !given || len(spec.Data.Files) == 0:
		return usagef("no table given; use kft backtest TABLE, or create %s with kft init TABLE first", defaultSpecFile)
	case c.Format != "text" && c.Format != "json" && c.Format != "csv":
		return usagef("--format: %s is not a format; use text, json or csv", c.Format)
	case c.Windows < 1:
		return usagef("--windows: %d is not a number of origins; use 1 or more", c.Windows)
	case c.Horizon < 1:
		return usagef("--horizon: %d is not a number of periods; use 1 or more", c.Horizon)
	case c.Step < 1:
		return usagef("--step: %d is not a number of periods; use 1 or more", c.Step)
	}
	inputs := append(sideFiles(spec.Side.Tables), spec.Data.Files...)
	if err := checkInputs(inputs); err != nil {
		return err
	}
	if err := checkThreads(c.Threads); err != nil {
		return err
	}
	if c.Output != "" {
		if err := checkOutput(c.Output, inputs); err != nil {
			return err
		}
	}
	opt := kft.BacktestOptions{Windows: c.Windows, Horizon: c.Horizon, Step: c.Step, Keep: c.Keep, Model: c.Output != "", Train: kft.Options{Threads: c.Threads, Stdin: e.stdin}}
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
		return writeBacktestCSV(e.rawOut, result)
	}
	return c.writeText(e.stdout, result)
}

// measures are the columns of the scores.
func measures(s kft.BacktestScore) []metrics.Number {
	return []metrics.Number{s.MAE, s.RMSE, s.WAPE, s.Bias, s.MASE, s.RMSSE, s.Pinball, s.Coverage90, s.Width90}
}

// writeBacktestCSV writes one row per method, origin and horizon. An empty origin or
// horizon means all of them, an empty measure is undefined.
func writeBacktestCSV(w io.Writer, r *kft.Backtest) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"method", "origin", "horizon", "n", "mae", "rmse", "wape", "bias", "mase", "rmsse", "pinball", "coverage90", "width90"}}
	for _, s := range r.Scores {
		row := []string{s.Method, s.Origin, "", strconv.Itoa(s.N)}
		if s.Horizon > 0 {
			row[2] = strconv.Itoa(s.Horizon)
		}
		for _, v := range measures(s) {
			text := ""
			if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
				text = strconv.FormatFloat(f, 'g', 8, 64)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

// writeText writes the origins, the scores by horizon, and by origin the errors of the model
// and of the best formula.
func (c *backtestCommand) writeText(w io.Writer, r *kft.Backtest) error {
	var b strings.Builder
	unit := r.Unit
	if unit == "" {
		unit = "period"
	}
	fmt.Fprintf(&b, "Backtest: %s, %s ahead, from %s to %s\n", textformat.Plural(len(r.Origins), "origin"), textformat.Plural(r.Horizon, unit), r.Origins[0].ID, r.Origins[len(r.Origins)-1].ID)
	fmt.Fprintf(&b, "Model at the last origin: %s\n", r.Origins[len(r.Origins)-1].Terms)
	if r.Mix != "" {
		fmt.Fprintf(&b, "Best mix at the last origin: %s\n", r.Mix)
	}
	t := textformat.Table{Header: []string{"ahead", "forecast", "n", "MAE", "RMSE", "WAPE", "bias", "MASE", "RMSSE", "pinball", "inside 90 %", "width 90 %"}}
	byOrigin := textformat.Table{Header: []string{"origin", "forecast", "n", "MAE", "RMSE", "pinball", "inside 90 %"}}
	for _, s := range r.Scores {
		switch {
		case s.Origin == "":
			ahead := "all"
			if s.Horizon > 0 {
				ahead = strconv.Itoa(s.Horizon)
			}
			t.Rows = append(t.Rows, []string{ahead, s.Method, textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), ratio(s.WAPE), ratio(s.Bias), ratio(s.MASE), ratio(s.RMSSE), amount(s.Pinball), share(s.Coverage90), amount(s.Width90)})
		case s.Horizon == 0:
			byOrigin.Rows = append(byOrigin.Rows, []string{s.Origin, s.Method, textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), amount(s.Pinball), share(s.Coverage90)})
		}
	}
	b.WriteString("\n")
	t.Write(&b)
	b.WriteString("\n")
	byOrigin.Write(&b)
	if c.Output != "" {
		fmt.Fprintf(&b, "\nWrote %s, trained on all rows; its intervals are calibrated by horizon on these forecasts.\nNext: kft forecast %s --horizon %d\n", c.Output, textformat.Quote(c.Output), r.Horizon)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func amount(v metrics.Number) string { return textformat.Amount(float64(v)) }

func ratio(v metrics.Number) string { return textformat.Ratio(float64(v)) }

func share(v metrics.Number) string {
	if math.IsNaN(float64(v)) {
		return textformat.Undefined
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}
