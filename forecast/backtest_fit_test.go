package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestBacktestIsTheFit checks that a backtest measures what a fit for forecasts of the rows up to the origin has on the
// rows after it, as a user would measure it.
func TestBacktestIsTheFit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 7))
	var known, later strings.Builder
	for i := range 40 {
		level := 3 + 0.5*rng.NormFloat64()
		for m := range 36 {
			level += 0.02*float64(i%4) + 0.05*rng.NormFloat64()
			b := &known
			if m >= 33 {
				b = &later
			}
			fmt.Fprintf(b, "i%d,%d-%02d,%.3f\n", i, 2020+m/12, m%12+1, math.Exp(level+0.2*rng.NormFloat64()))
		}
	}
	const header = "item,time,y\n"
	s := spec.Spec{Split: "time:last=3", Transform: "log1p", Terms: []string{"series(item; time; ar)", "item"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}, Fit: spec.Fit{Refit: "all"}, Seed: 1}
	s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
	s.Fill()
	m, _, err := search.Fit(t.Context(), s, tableio.Reader("known.csv", strings.NewReader(header+known.String())), train.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := evaluate.Table(t.Context(), m, tableio.Reader("later.csv", strings.NewReader(header+later.String())), model.TableOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := Backtest(t.Context(), s, tableio.Reader("all.csv", strings.NewReader(header+known.String()+later.String())), BacktestOptions{Windows: 1, Horizon: 3, Train: train.Options{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Scores[0]
	if math.Abs(float64(got.MAE)/want.MAE-1) > 1e-3 || math.Abs(float64(got.RMSE)/want.RMSE-1) > 1e-3 {
		t.Errorf("got MAE %g and RMSE %g, but the fit has %g and %g", got.MAE, got.RMSE, want.MAE, want.RMSE)
	}
}
