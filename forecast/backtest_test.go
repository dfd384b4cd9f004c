package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

func TestBacktest(t *testing.T) {
	t.Parallel()
	var progress []string
	r, m, err := Backtest(t.Context(), salesSpec(), sales(t), BacktestOptions{Windows: 3, Horizon: 2, Step: 2, Model: true, Progress: func(text string) { progress = append(progress, text) }})
	if err != nil {
		t.Fatal(err)
	}
	var origins []string
	for _, o := range r.Origins {
		origins = append(origins, o.ID)
	}
	if got := strings.Join(origins, " "); got != "2015-12 2016-2 2016-4" || len(progress) != 4 || r.Unit != "month" || len(r.Warnings) > 0 {
		t.Errorf("got the origins %s, progress %q, warnings %v", got, progress, r.Warnings)
	}
	scores := map[string]Score{}
	for _, s := range r.Scores {
		if s.Origin == "" {
			scores[s.Method+" "+string(rune('0'+s.Horizon))] = s
		}
	}
	model, mean, season, mix := scores["kft 0"], scores["mean 0"], scores["same month of the last year 0"], scores["best mix 0"]
	if model.N != scores["kft 1"].N+scores["kft 2"].N || model.N == 0 || mean.N != model.N {
		t.Errorf("got %d rows, %d and %d by horizon, %d of the mean", model.N, scores["kft 1"].N, scores["kft 2"].N, mean.N)
	}
	// The season is in the model and in the value of last year, but not in the mean.
	if !(model.MAE < season.MAE && season.MAE < mean.MAE && mix.RMSE < mean.RMSE) || !(model.MASE < 1) {
		t.Errorf("got MAE %g of the model, %g of last year, %g of the mean; RMSE %g of the mix", model.MAE, season.MAE, mean.MAE, mix.RMSE)
	}
	if math.Abs(float64(model.Coverage90)-0.9) > 0.06 || !math.IsNaN(float64(mean.Coverage90)) {
		t.Errorf("90 %% intervals hold %g, those of the mean %g", model.Coverage90, mean.Coverage90)
	}
	if m == nil || !r.Calibrated || m.Uncertainty().Conformal.Horizons != 2 || m.Series().End != 29 {
		t.Errorf("got a model with %+v", m.Uncertainty().Conformal)
	}
	if !strings.Contains(r.Mix, "same month of the last year") {
		t.Errorf("got the mix %s", r.Mix)
	}
}

// TestBacktestOfSharedShock calibrates on origins after which all series fall: the shock does not
// move intervals away from the means.
func TestBacktestOfSharedShock(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	table := "store,month,value\n"
	for s := range 20 {
		for k := range 48 {
			level := 100.0
			if k >= 42 {
				level = 94
			}
			table += fmt.Sprintf("s%d,%d-%02d,%.3f\n", s, 2010+k/12, k%12+1, level+float64(s)+2*rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "shock.csv")
	if err := os.WriteFile(file, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"store", "time=month"}}, Terms: []string{"store"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	r, m, err := Backtest(t.Context(), s, tableio.Files(file), BacktestOptions{Windows: 4, Horizon: 3, Model: true})
	if err != nil || !r.Calibrated {
		t.Fatalf("calibrated %v, %v", r.Calibrated, err)
	}
	for _, o := range []Options{{Horizon: 3, Levels: []float64{90}}, {Horizon: 3, Levels: []float64{90}, By: "total"}} {
		written, _ := write(t, m, o)
		for _, row := range written.rows {
			var v [4]float64
			for i, column := range []string{"lo-90", "mean", "median", "hi-90"} {
				v[i], _ = strconv.ParseFloat(row[column], 64)
			}
			if width := v[3] - v[0]; !(v[0] < v[1] && v[1] < v[3]) || math.Abs(v[1]-v[2]) > width/5 {
				t.Errorf("by %q: got mean %g and median %g in [%g, %g]", o.By, v[1], v[2], v[0], v[3])
			}
		}
	}
}

// TestBacktestOfFewRows checks that too few rows to calibrate on leave scores and a model.
func TestBacktestOfFewRows(t *testing.T) {
	t.Parallel()
	table := "when,value\n"
	for k := range 60 {
		table += fmt.Sprintf("%d-%02d,%d\n", 2010+k/12, k%12+1, 100+k+k*k%7)
	}
	file := filepath.Join(t.TempDir(), "few.csv")
	if err := os.WriteFile(file, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"time=when"}}, Terms: []string{"series(; time)"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	r, m, err := Backtest(t.Context(), s, tableio.Files(file), BacktestOptions{Windows: 2, Horizon: 2, Model: true})
	if err != nil {
		t.Fatal(err)
	}
	if m == nil || r.Calibrated || len(r.Scores) == 0 || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[len(r.Warnings)-1], "by its own fit, on 8 rows, because the backtest has only 4 forecasts") {
		t.Errorf("got the model %v, %d scores, warnings %q", m != nil, len(r.Scores), r.Warnings)
	}
}

// TestBacktestOfOneSeries checks that the intervals of a model that a backtest of one series calibrates have the shape that
// those of a fit have, instead of that of a few errors that are alike.
func TestBacktestOfOneSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 4))
	table, level := "when,value\n", 100.0
	for k := range 120 {
		level += rng.NormFloat64()
		table += fmt.Sprintf("%d-%02d,%.2f\n", 2010+k/12, k%12+1, level+rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "one.csv")
	if err := os.WriteFile(file, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"time=when"}}, Terms: []string{"series(; time; walk)"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	r, m, err := Backtest(t.Context(), s, tableio.Files(file), BacktestOptions{Windows: 4, Horizon: 12, Step: 12, Model: true})
	if err != nil || !r.Calibrated {
		t.Fatalf("calibrated: %v, error %v, warnings %q", r.Calibrated, err, r.Warnings)
	}
	p, err := m.Predict(t.Context(), []model.Cell{{"time": "2020-06"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	low, high := p[0].Interval(.9)
	from, to := p[0].Interval(.5)
	// Of the normal distribution the ratio is 2.4, of Student's t with 5 degrees of freedom 2.8.
	if ratio := (high - low) / (to - from); ratio < 2.4 || ratio > 3 {
		t.Errorf("the 90 %% interval is %g times as wide as that of 50 %%", ratio)
	}
	if c := m.Uncertainty().Conformal; c == nil || c.Rows != 48 {
		t.Errorf("got the correction %+v, want one of 48 forecasts", c)
	}
}

// TestBacktestDoesNotLeak checks that values after an origin change only the scores of their
// own rows: neither the formulas nor the model know them, nor lags of later rows.
func TestBacktestDoesNotLeak(t *testing.T) {
	t.Parallel()
	s := salesSpec()
	s.Data.Modes = append(s.Data.Modes, "lag(1)")
	s.Terms = append(s.Terms, "lag1")
	scoresOf := func(factor float64) []Score {
		r, _, err := Backtest(t.Context(), s, changed(t, "5", factor), BacktestOptions{Windows: 1, Horizon: 2})
		if err != nil {
			t.Fatal(err)
		}
		var out []Score
		for _, score := range r.Scores {
			if score.Horizon == 2 && score.Origin == "2016-4" {
				out = append(out, score)
			}
		}
		return out
	}
	a, b := scoresOf(1), scoresOf(100)
	if len(a) < 4 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("got %+v, and %+v with other values between the origin and the rows", a, b)
	}
}

func TestBacktestErrors(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		change func(*spec.Spec)
		o      BacktestOptions
	}{
		"the table has 30 periods of mode time, and 40 windows of 3 periods need 47": {nil, BacktestOptions{Windows: 40}},
		"horizon is -1": {nil, BacktestOptions{Horizon: -1}},
		"no mode is a time": {func(s *spec.Spec) {
			s.Data.Modes, s.Terms = []string{"store", "item"}, []string{"store*item"}
			s.Data.Duplicates = "sum"
		}, BacktestOptions{}},
		`the table has no mode "stores"`:           {nil, BacktestOptions{By: []string{"stores"}}},
		"totals are by period already":             {nil, BacktestOptions{By: []string{"store,time"}}},
		"there is no side table of item":           {nil, BacktestOptions{By: []string{"item.vendor"}}},
		"totals by store,item are asked for twice": {nil, BacktestOptions{By: []string{"store, item", "store,item"}}},
		`the table has no mode ""`:                 {nil, BacktestOptions{By: []string{""}}},
		"the terms: unknown mode foo":              {func(s *spec.Spec) { s.Terms = []string{"foo"} }, BacktestOptions{}},
	} {
		s := salesSpec()
		if c.change != nil {
			c.change(&s)
		}
		_, _, err := Backtest(t.Context(), s, sales(t), c.o)
		if err == nil || !strings.Contains(err.Error(), want) && !strings.HasPrefix(want, "the terms") {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// TestBacktestTotals measures the sums over stores and over all cells.
func TestBacktestTotals(t *testing.T) {
	t.Parallel()
	var results [2]*Result
	for k, threads := range []int{1, 3} {
		s := salesSpec()
		s.Side.Tables = []string{"item=items[key=code]:vendor:group"}
		items, err := dataset.NewColumns(dataset.StringColumn("name", []string{"p", "q", "r", "s", "t", "u", "v", "w"}), dataset.StringColumn("code", []string{"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"}),
			dataset.StringColumn("vendor", []string{"a", "a", "a", "b", "b", "b", "b", "b"}))
		if err != nil {
			t.Fatal(err)
		}
		results[k], _, err = Backtest(t.Context(), s, sales(t), BacktestOptions{Windows: 3, Horizon: 2, Step: 2, By: []string{"total", "store", "store,item.vendor"},
			Train: train.Options{Threads: threads, Tables: map[string]tableio.Source{"items": tableio.Columns(items)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if a, b := fmt.Sprint(results[0].Totals), fmt.Sprint(results[1].Totals); a != b {
		t.Errorf("the scores depend on the number of threads: %s, %s", a, b)
	}
	r := results[0]
	scores := map[string]Score{}
	for _, s := range slices.Concat(r.Scores, r.Totals) {
		if s.Origin == "" && s.Horizon == 0 {
			scores[strings.TrimSpace(s.By+" "+s.Method)] = s
		}
	}
	cells, total, stores, vendors := scores["kft"], scores["total kft"], scores["store kft"], scores["store,item.vendor kft"]
	if total.N != 6 || stores.N < 60 || vendors.N <= 3*stores.N/2 {
		t.Errorf("got %d totals, %d of stores and %d of stores and vendors, want 6, 11 or 12 stores in each period and nearly twice as many", total.N, stores.N, vendors.N)
	}
	// Sums of predicted and of actual values do not depend on the grouping.
	for by, s := range map[string]Score{"total": total, "store": stores, "store,item.vendor": vendors} {
		if math.Abs(float64(s.Bias/cells.Bias)-1) > 1e-6 {
			t.Errorf("by %s the predicted totals are %g times the actual ones, cell by cell %g", by, s.Bias, cells.Bias)
		}
	}
	// Errors of cells cancel in totals, and the joint draws know it.
	if !(stores.WAPE < vendors.WAPE && vendors.WAPE < cells.WAPE && stores.MAE < scores["store mean"].MAE) {
		t.Errorf("got WAPE %g by store, %g by store and vendor, %g by cell; MAE %g by store, %g of the mean", stores.WAPE, vendors.WAPE, cells.WAPE, stores.MAE, scores["store mean"].MAE)
	}
	if c := float64(stores.Coverage90); c < 0.75 || float64(stores.Width90) > 0.8*7*float64(cells.Width90) {
		t.Errorf("90 %% intervals of stores hold %g and have a width of %g, those of cells %g", c, stores.Width90, cells.Width90)
	}
}
