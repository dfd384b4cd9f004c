package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestTotalsCoverage checks 90 % intervals of totals of forecasts of cells whose errors are independent, and of such that share a
// surprise in every month, or in every store and month.
func TestTotalsCoverage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		all, store  float64
		least, most map[string]float64 // coverage by grouping
	}{
		"independent":      {0, 0, map[string]float64{"total": .8, "store": .86}, map[string]float64{"total": 1, "store": .96}},
		"shared by all":    {.1, 0, map[string]float64{"total": .75, "store": .83}, map[string]float64{"total": 1, "store": .98}},
		"shared by stores": {0, .2, map[string]float64{"total": .8, "store": .83}, map[string]float64{"total": 1, "store": .97}},
	} {
		coverage, n := map[string]float64{}, map[string]float64{}
		for seed := range uint64(2) {
			s := spec.Spec{Data: spec.Data{Target: "units", Modes: []string{"store", "item", "time=period"}}, Terms: []string{"store*item"}, Transform: "log1p",
				Uncertainty: spec.Uncertainty{Inference: "mean-field", Conformal: "horizon"}, Fit: spec.Fit{Sweeps: 5}, Seed: 1}
			r, _, err := Backtest(t.Context(), s, surprised(t, seed, c.all, c.store), BacktestOptions{Windows: 5, Horizon: 3, Step: 3, By: []string{"total", "store"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, score := range r.Totals {
				if score.Origin == "" && score.Horizon == 0 && score.Method == ModelMethod {
					coverage[score.By] += float64(score.Coverage90) * float64(score.N)
					n[score.By] += float64(score.N)
				}
			}
		}
		for by, least := range c.least {
			if got := coverage[by] / n[by]; !(got >= least && got <= c.most[by]) {
				t.Errorf("%s: 90 %% intervals of totals by %s hold %.3f of %g values, want %g to %g", name, by, got, n[by], least, c.most[by])
			}
		}
	}
}

// surprised is a table of 30 months of 12 stores and 30 items, with surprises of all cells of a month, and of those of a store in it.
func surprised(t *testing.T, seed uint64, all, store float64) tableio.Source {
	t.Helper()
	const stores, items, months = 12, 30, 30
	rng := rand.New(rand.NewPCG(seed, 11))
	month, own := make([]float64, months), make([]float64, stores*months)
	for m := range month {
		month[m] = all * rng.NormFloat64()
	}
	for k := range own {
		own[k] = store * rng.NormFloat64()
	}
	var shops, names, times []string
	var y []float64
	for s := range stores {
		for i := range items {
			level := 2.5 + .5*rng.NormFloat64()
			for m := range months {
				shops, names, times = append(shops, fmt.Sprint("s", s)), append(names, fmt.Sprint("i", i)), append(times, fmt.Sprintf("%d-%02d", 2020+m/12, 1+m%12))
				y = append(y, math.Round(math.Exp(level+month[m]+own[s*months+m]+.4*rng.NormFloat64())))
			}
		}
	}
	c, err := dataset.NewColumns(dataset.StringColumn("store", shops), dataset.StringColumn("item", names), dataset.StringColumn("period", times), dataset.FloatColumn("units", y))
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(c)
}
