package summary

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
	"github.com/kernel-fried-tensor/kft/spec"
)

// measures are the columns of the scores.
func measures(s kft.BacktestScore) []metrics.Number {
	return []metrics.Number{s.MAE, s.RMSE, s.R2, s.R2Log1p, s.WAPE, s.Bias, s.MASE, s.RMSSE, s.Pinball, s.Coverage90, s.Width90}
}

// WriteBacktestCSV writes one row per method, origin and horizon. An empty origin or
// horizon means all of them, an empty measure is undefined.
func WriteBacktestCSV(w io.Writer, r *kft.Backtest) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"method", "origin", "horizon", "n", "mae", "rmse", "r2", "r2_log1p", "wape", "bias", "mase", "rmsse", "pinball", "coverage90", "width90"}}
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
	t := textformat.Table{Left: 2, Header: []string{"ahead", "forecast", "n", "MAE", "RMSE", "R2", "R2 log1p", "WAPE", "bias", "MASE", "RMSSE", "pinball", "inside 90 %", "width 90 %"}}
	byOrigin := textformat.Table{Left: 2, Header: []string{"origin", "forecast", "n", "MAE", "RMSE", "R2", "R2 log1p", "pinball", "inside 90 %"}}
	for _, s := range r.Scores {
		switch {
		case s.Origin == "":
			ahead := "all"
			if s.Horizon > 0 {
				ahead = strconv.Itoa(s.Horizon)
			}
			t.Rows = append(t.Rows, []string{ahead, s.Method, textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), ratio(s.R2), ratio(s.R2Log1p), ratio(s.WAPE), ratio(s.Bias), ratio(s.MASE), ratio(s.RMSSE), amount(s.Pinball), share(s.Coverage90), amount(s.Width90)})
		case s.Horizon == 0:
			byOrigin.Rows = append(byOrigin.Rows, []string{s.Origin, s.Method, textformat.Count(s.N), amount(s.MAE), amount(s.RMSE), ratio(s.R2), ratio(s.R2Log1p), amount(s.Pinball), share(s.Coverage90)})
		}
	}
	b.WriteString("\n")
	t.Write(&b)
	b.WriteString("\n")
	byOrigin.Write(&b)
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

func amount(v metrics.Number) string { return textformat.Amount(float64(v)) }

func ratio(v metrics.Number) string { return textformat.Ratio(float64(v)) }

func share(v metrics.Number) string {
	if math.IsNaN(float64(v)) {
		return textformat.Undefined
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}
