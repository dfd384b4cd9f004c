package summary

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/spec"
)

// measures are the columns of the scores.
func measures(s kft.BacktestScore) []metrics.Number {
	return []metrics.Number{s.MAE, s.RMSE, s.R2, s.R2Log1p, s.WAPE, s.Bias, s.MASE, s.RMSSE, s.Pinball, s.Coverage90, s.Width90}
}

// WriteBacktestCSV writes one row per method, origin, horizon and grouping of totals. An empty origin or
// horizon means all of them, an empty measure is undefined, and an empty grouping stands for cells.
func WriteBacktestCSV(w io.Writer, r *kft.Backtest) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"method", "origin", "horizon", "n", "mae", "rmse", "r2", "r2_log1p", "wape", "bias", "mase", "rmsse", "pinball", "coverage90", "width90", "by"}}
	for _, s := range slices.Concat(r.Scores, r.Totals) {
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
		row = append(row, s.By)
		rows = append(rows, row)
	}
	if err := out.WriteAll(rows); err != nil {
		return err
	}
	return out.Error()
}

// WriteBacktest writes the scores of a backtest by horizon and by origin. output is the
// model that was written, "" for none.
func WriteBacktest(w io.Writer, r *kft.Backtest, output string) error {
	var b strings.Builder
	unit := r.Unit
	if unit == "" {
		unit = "period"
	}
	fmt.Fprintf(&b, "Backtest: %s, %s ahead, from %s to %s\n", textformat.Plural(len(r.Origins), "origin"), textformat.Plural(r.Horizon, unit), r.Origins[0].ID, r.Origins[len(r.Origins)-1].ID)
	fmt.Fprintf(&b, "Model at the last origin: %s\n", spec.ReadableTerms(r.Origins[len(r.Origins)-1].Terms))
	if r.Mix != "" {
		fmt.Fprintf(&b, "Best mix at the last origin: %s\n", r.Mix)
	}
	byAhead := textformat.Table{Left: 2, Header: append([]string{"ahead", "forecast"}, scoreHeader...)}
	byOrigin := textformat.Table{Left: 2, Header: []string{"origin", "forecast", "n", "MAE", "RMSE", "R2", "R2 log1p", "pinball", "inside 90 %"}}
	for _, s := range r.Scores {
		switch {
		case s.Origin == "":
			ahead := "all"
			if s.Horizon > 0 {
				ahead = strconv.Itoa(s.Horizon)
			}
			byAhead.Rows = append(byAhead.Rows, append([]string{ahead, s.Method}, scoreRow(s)...))
		case s.Horizon == 0:
			byOrigin.Rows = append(byOrigin.Rows, []string{s.Origin, s.Method, textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), ratio(s.R2), ratio(s.R2Log1p), amount(s.Pinball), share(s.Coverage90)})
		}
	}
	b.WriteString("\n")
	byAhead.Write(&b)
	b.WriteString("\n")
	byOrigin.Write(&b)
	writeBacktestTotals(&b, r.Totals)
	if output != "" {
		intervals := "not calibrated"
		if r.Calibrated {
			intervals = "calibrated by horizon on these forecasts"
		}
		fmt.Fprintf(&b, "\nWrote %s, trained on all rows; its intervals are %s.\nNext: kft forecast %s --horizon %d\n", output, intervals, textformat.Quote(output), r.Horizon)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeBacktestTotals writes the scores of totals over all origins and horizons, a table for each grouping.
func writeBacktestTotals(b *strings.Builder, scores []kft.BacktestScore) {
	for from := 0; from < len(scores); {
		by := scores[from].By
		t := textformat.Table{Left: 1, Header: append([]string{"totals by " + by}, scoreHeader...)}
		if by == "total" {
			t.Header[0] = "totals of all cells"
		}
		for ; from < len(scores) && scores[from].By == by; from++ {
			if s := scores[from]; s.Origin == "" && s.Horizon == 0 {
				t.Rows = append(t.Rows, append([]string{s.Method}, scoreRow(s)...))
			}
		}
		b.WriteString("\n")
		t.Write(b)
	}
}

var scoreHeader = []string{"n", "MAE", "RMSE", "R2", "R2 log1p", "WAPE", "bias", "MASE", "RMSSE", "pinball", "inside 90 %", "width 90 %"}

func scoreRow(s kft.BacktestScore) []string {
	return []string{textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), ratio(s.R2), ratio(s.R2Log1p), ratio(s.WAPE), ratio(s.Bias), ratio(s.MASE), ratio(s.RMSSE), amount(s.Pinball), share(s.Coverage90), amount(s.Width90)}
}

func amount(v metrics.Number) string { return textformat.Amount(float64(v)) }

func ratio(v metrics.Number) string { return textformat.Ratio(float64(v)) }

func share(v metrics.Number) string {
	if math.IsNaN(float64(v)) {
		return textformat.Undefined
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}
