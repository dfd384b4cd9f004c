package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

// autoregressive is a table of 500 shops over 60 days: a level by shop and an AR(1) process
// whose shocks have heavy tails.
func autoregressive(t *testing.T) tableio.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var shops, days []string
	var y []float64
	first := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for s := range 500 {
		level, state := 2*rng.NormFloat64(), 0.0
		for day := -20; day < 60; day++ {
			shock := rng.NormFloat64()
			if rng.IntN(10) == 0 {
				shock *= 4
			}
			if state = 0.7*state + shock; day >= 0 {
				shops, days = append(shops, fmt.Sprint("s", s)), append(days, first.AddDate(0, 0, day).Format("2006-01-02"))
				y = append(y, level+state)
			}
		}
	}
	c, err := dataset.NewColumns(dataset.StringColumn("shop", shops), dataset.StringColumn("day", days), dataset.FloatColumn("y", y))
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(c)
}

// TestCoverageByHorizon forecasts the table with a model that knows the levels only. Its
// intervals, calibrated at an earlier origin, hold what they should at each horizon.
func TestCoverageByHorizon(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Target: "y", Modes: []string{"shop", "time=day"}}, Terms: []string{"shop"}, Transform: "identity",
		Uncertainty: spec.Uncertainty{Inference: "mean-field", Conformal: "horizon"}, Fit: spec.Fit{Sweeps: 6}, Seed: 1}
	r, _, err := Backtest(t.Context(), s, autoregressive(t), BacktestOptions{Windows: 3, Horizon: 6, Step: 3, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range r.Scores {
		tolerance := 0.025 // of all horizons
		if score.Horizon > 0 {
			tolerance = 0.04 // two standard errors of the level of a quantile of 250 calibration rows
		}
		if score.Origin == "" && score.Method == ModelMethod && math.Abs(float64(score.Coverage90)-0.9) > tolerance {
			t.Errorf("horizon %d: 90 %% intervals hold %.3f of %d values", score.Horizon, score.Coverage90, score.N)
		}
	}
}

// simulated is a table of 72 weeks, see [testtable.Series].
func simulated(t *testing.T, kind string) tableio.Source {
	t.Helper()
	var shops, items []string
	var weeks []int
	var y []float64
	testtable.Series(kind, 72, rand.New(rand.NewPCG(9, 10)), func(shop, item, week int, value float64) {
		shops, items = append(shops, fmt.Sprint("s", shop)), append(items, fmt.Sprint("i", item))
		weeks, y = append(weeks, week), append(y, value)
	})
	c, err := dataset.NewColumns(dataset.StringColumn("shop", shops), dataset.StringColumn("item", items), dataset.IntColumn("week", weeks), dataset.FloatColumn("units", y))
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(c)
}

// TestSeriesCoverage checks 90 % intervals of series terms at horizons 1 to 12, as the model
// gives them or calibrated by horizon. There are about 145 values at each horizon.
func TestSeriesCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, term, conformal string }{
		{"walk", "series(shop*item; week; walk)", "horizon"},
		{"ar", "series(shop*item; week; ar)", "none"},
		{"season", "series(shop*item; week; walk, season=12)", "none"},
	} {
		s := spec.Spec{Data: spec.Data{Target: "units", Modes: []string{"shop", "item", "week"}}, Terms: []string{"shop", "item", c.term}, Transform: "identity",
			Uncertainty: spec.Uncertainty{Inference: "mean-field", Conformal: c.conformal}, Fit: spec.Fit{Sweeps: 10}, Seed: 1}
		r, _, err := Backtest(t.Context(), s, simulated(t, c.kind), BacktestOptions{Windows: 1, Horizon: 12})
		if err != nil {
			t.Fatal(err)
		}
		for _, score := range r.Scores {
			tolerance := 0.025 // of all horizons
			if score.Horizon > 0 {
				tolerance = 0.09
			}
			if score.Origin == "" && score.Method == ModelMethod && math.Abs(float64(score.Coverage90)-0.9) > tolerance {
				t.Errorf("%s, horizon %d: 90 %% intervals hold %.3f of %d values", c.kind, score.Horizon, score.Coverage90, score.N)
			}
			if c.kind == "walk" && score.Origin == "" && score.Method == "last value" && score.Horizon == 0 && r.Scores[0].RMSE > score.RMSE {
				t.Errorf("walk: RMSE %.3f, that of the last value is %.3f", r.Scores[0].RMSE, score.RMSE)
			}
		}
	}
}
