package kft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestTotalsOfSamplesCover checks that 90 % intervals of totals by draws contain the
// true totals. The truth is a train without effects and the model is that train alone,
// so an offset that were taken for known would shift all cells of a month together:
// coverage was .59 before the offset had a posterior. Totals of stores and items have the
// covariance between the cores: that of items was .856 before draws widened the posterior.
func TestTotalsOfSamplesCover(t *testing.T) {
	t.Parallel()
	checkTotals(t, 16, 0.15, "none", map[string]float64{"s": .87, "i": .87, "t": .8})
}

// TestTotalsWithCorrectionCover does the same with a conformal correction, which has few
// rows here. The chance error of the mean of its scores is the same in every cell: coverage
// was .69 when draws had that error.
func TestTotalsWithCorrectionCover(t *testing.T) {
	t.Parallel()
	checkTotals(t, 8, 0.3, "split", map[string]float64{"t": .8})
}

// checkTotals checks the coverage of totals by the ids of modes over the cells that simulated
// tables lack, which have a share of all cells. least has the least coverage of each mode.
func checkTotals(t *testing.T, seeds int, share float64, conformal string, least map[string]float64) {
	t.Helper()
	const (
		stores, items, periods = 25, 30, 8
		draws                  = 100
	)
	hits, totals := map[string]int{}, map[string]int{}
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 7))
		normal := func(n int, mean, sd float64) [][2]float64 {
			v := make([][2]float64, n)
			for i := range v {
				v[i] = [2]float64{mean + sd*rng.NormFloat64(), mean + sd*rng.NormFloat64()}
			}
			return v
		}
		a, b, c := normal(stores, 0, 1), normal(items, 0, 1), normal(periods, 1, 0.5)
		var s, i, p []string
		var y []float64
		var rest []kft.Cell
		var truth []float64
		for j := range stores * items * periods {
			js, ji, jp := j/(items*periods), j/periods%items, j%periods
			value := a[js][0]*b[ji][0]*c[jp][0] + a[js][1]*b[ji][1]*c[jp][1] + 0.7*rng.NormFloat64()
			if rng.Float64() < share {
				s, i, p, y = append(s, fmt.Sprint("s", js)), append(i, fmt.Sprint("i", ji)), append(p, fmt.Sprint("t", jp)), append(y, value)
			} else {
				rest = append(rest, kft.Cell{"s": fmt.Sprint("s", js), "i": fmt.Sprint("i", ji), "t": fmt.Sprint("t", jp)})
				truth = append(truth, value)
			}
		}
		table, err := kft.Columns(kft.StringColumn("s", s), kft.StringColumn("i", i), kft.StringColumn("t", p), kft.FloatColumn("y", y))
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := kft.Fit(t.Context(), kft.Spec{
			Data:        kft.DataSpec{Target: "y", Modes: []string{"s", "i", "t"}},
			Terms:       []string{"s,i,t:2"},
			Split:       "random:80/20",
			Seed:        seed + 1,
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: conformal},
		}, table, kft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		samples, err := m.Samples(t.Context(), rest, draws)
		if err != nil {
			t.Fatal(err)
		}
		for mode := range least {
			want, drawn := map[string]float64{}, map[string][]float64{}
			for cell, at := range rest {
				id := at[mode]
				if drawn[id] == nil {
					drawn[id] = make([]float64, draws)
				}
				want[id] += truth[cell]
				for k, v := range samples[cell] {
					drawn[id][k] += v
				}
			}
			for id, d := range drawn {
				slices.Sort(d)
				totals[mode]++
				if d[draws/20] <= want[id] && want[id] <= d[draws-1-draws/20] {
					hits[mode]++
				}
			}
		}
	}
	// The standard error of the coverage of 64 totals is .038, of 400 .015.
	for mode, bound := range least {
		coverage := float64(hits[mode]) / float64(totals[mode])
		t.Logf("coverage %.3f of %d totals by %s", coverage, totals[mode], mode)
		if coverage < bound {
			t.Errorf("got coverage %.3f of 90 %% intervals of %d totals by %s, want %g or more", coverage, totals[mode], mode, bound)
		}
	}
}
