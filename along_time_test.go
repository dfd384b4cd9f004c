package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

const items = 40 // of factorTable

// factorTable returns values of items that are weighted sums of two factors along time:
// random walks, or autoregressions of order one with the coefficient .9. The last 12 weeks
// are returned as cells with their values.
func factorTable(kind string, weeks int, seed uint64) (table string, future []kft.Cell, values []float64) {
	const horizon = 12
	rng := rand.New(rand.NewPCG(seed, 7))
	weight := make([][2]float64, items)
	for i := range weight {
		weight[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	var b strings.Builder
	b.WriteString("item,week,units\n")
	state := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	for week := 1; week <= weeks+horizon; week++ {
		for k := range state {
			if kind == "walk" {
				state[k] += .3 * rng.NormFloat64()
			} else {
				state[k] = .9*state[k] + math.Sqrt(1-.81)*rng.NormFloat64()
			}
		}
		for i, w := range weight {
			y := 10 + w[0]*state[0] + w[1]*state[1] + .5*rng.NormFloat64()
			if week <= weeks {
				fmt.Fprintf(&b, "i%d,%d,%.4f\n", i, week, y)
				continue
			}
			future, values = append(future, kft.Cell{"item": fmt.Sprintf("i%d", i), "week": fmt.Sprint(week)}), append(values, y)
		}
	}
	return b.String(), future, values
}

func alongSpec(t testing.TB, table string, terms ...string) kft.Spec {
	return kft.Spec{Data: kft.DataSpec{Files: []string{writeFile(t, "units.csv", table)}, Target: "units", Modes: []string{"item", "week"}},
		Split: "random:95/5", Terms: append(terms, "item"), Uncertainty: kft.UncertaintySpec{Inference: "mean-field"}}
}

// TestAlongForecasts checks forecasts 1 to 12 weeks ahead of a dynamic factor model: they
// are much better than those of a plain core of time in the first four, and 90 % intervals
// cover.
func TestAlongForecasts(t *testing.T) {
	t.Parallel()
	const tables = 24
	for _, kind := range []string{"walk", "ar"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			inside, n, square := 0, 0, map[string]float64{}
			for seed := range uint64(tables) {
				table, cells, values := factorTable(kind, 150, seed)
				for _, term := range []string{"item,along(week):2", "item,week:2"} {
					m, _ := fit(t, alongSpec(t, table, term), kft.Options{Threads: 1})
					predictions, err := m.Predict(t.Context(), cells)
					if err != nil {
						t.Fatal(err)
					}
					for i, p := range predictions {
						if i < 4*items { // four weeks
							square[term] += (p.Mean - values[i]) * (p.Mean - values[i])
						}
						if low, high := p.Interval(.9); term != "item,week:2" {
							n++
							if values[i] >= low && values[i] <= high {
								inside++
							}
						}
					}
				}
			}
			if c := float64(inside) / float64(n); c < .88 || c > .92 {
				t.Errorf("90 %% intervals hold %.3f", c)
			}
			if along, plain := square["item,along(week):2"], square["item,week:2"]; along > .75*plain {
				t.Errorf("mean square %.3g, of a plain core %.3g", along, plain)
			}
		})
	}
}

// TestAlongSurvivesTheFile checks that a model with a core along time is the same on any
// number of threads and after interruptions, that it predicts the same after it was saved,
// and that draws agree with the moments.
func TestAlongSurvivesTheFile(t *testing.T) {
	t.Parallel()
	table, _, _ := factorTable("walk", 60, 3)
	spec := alongSpec(t, strings.ReplaceAll(table, ",30,", ",300,"), "item,along(week):3") // week 30 is missing, many after week 60
	m, _ := fit(t, spec, kft.Options{Threads: 1})
	file := modelBytes(t, m)
	other, _ := fit(t, spec, kft.Options{Threads: 3})
	resumed, runs := fitWithInterruptions(t, spec, kft.Options{Checkpoint: t.TempDir(), Resume: true}, 7)
	if runs < 3 {
		t.Errorf("got %d runs, want 3 or more", runs)
	}
	for what, other := range map[string]*kft.Model{"another number of threads": other, "interruptions": resumed} {
		if !bytes.Equal(file, modelBytes(t, other)) {
			t.Errorf("%s: got another file", what)
		}
	}
	loaded, err := kft.ReadModel(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var cells []kft.Cell
	for _, week := range []string{"1", "30", "60", "300", "301", "310", "soon"} {
		cells = append(cells, kft.Cell{"item": "i2", "week": week})
	}
	want := sameAfterLoading(t, m, loaded, cells)
	if want[5].SD <= want[4].SD || want[4].SD <= want[3].SD {
		t.Errorf("forecasts are no less certain than the last week: %g, %g, %g", want[5].SD, want[4].SD, want[3].SD)
	}
	const draws = 4000
	samples, err := m.Samples(t.Context(), cells[:6], draws)
	if err != nil {
		t.Fatal(err)
	}
	for i, all := range samples {
		sum, square := 0.0, 0.0
		for _, y := range all {
			sum += y
			square += y * y
		}
		mean := sum / draws
		sd := math.Sqrt(square/draws - mean*mean)
		if math.Abs(mean-want[i].Mean) > 5*want[i].SD/math.Sqrt(draws) || math.Abs(sd/want[i].SD-1) > 0.1 {
			t.Errorf("cell %v: draws have mean %g and sd %g, the prediction %g and %g", cells[i], mean, sd, want[i].Mean, want[i].SD)
		}
	}
	if err := m.CheckUpdate(); err != nil {
		t.Errorf("update: got error %v", err)
	}
}

// TestAlongPoint checks that point estimates have cores along time too, also in trains of
// one and of three cores, and that the bound of posteriors does not fall.
func TestAlongPoint(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field", "entity-covariance"} {
		for _, term := range []string{"along(week)", "shop,item,along(week; walk, season=12):2", "along(week; ar),item:2"} {
			spec := seriesSpec(t, seriesTable("walk", 3), "shop*item")
			spec.Terms = append(spec.Terms, term)
			spec.Uncertainty.Inference = inference
			_, r := fit(t, spec, kft.Options{})
			for _, w := range r.Warnings {
				if strings.Contains(w, "bound decreased") {
					t.Error(w)
				}
			}
			if r.Test.R2 < 0.1 {
				t.Errorf("%s, %s: R2 %.3f", inference, term, r.Test.R2)
			}
		}
	}
}

func TestAlongErrors(t *testing.T) {
	t.Parallel()
	table, _, _ := factorTable("walk", 30, 1)
	for term, want := range map[string]string{
		"item,along(day):2":                     `unknown mode of time "day"`,
		"item,along(week:2":                     "write one core along time",
		"item,along(week)*item:2":               "write one core along time",
		"item,along(week; winter):2":            `unknown part "winter"`,
		"item,along(week; drift):2":             "no drift",
		"item,along(week; season=99):2":         "a season of 99 steps is longer than the table, which has 30 periods",
		"item,along(week; season):2":            "a season of 52",
		"item,along(week):2@ls":                 "latent scaling has no core along time",
		"along(week),along(week):2":             "write one core along time",
		"item,along(item):2":                    "appears twice",
		"item*week,along(week):2":               "appears twice",
		"week,along(item; walk, season=5),x:2":  "the first or the last of its term",
		"item,along(week),item.x:2":             "the first or the last of its term",
		"item,along(week; walk, season=1000):2": "longer than the table",
	} {
		spec := alongSpec(t, table, term)
		if _, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", term, err, want)
		}
	}
	spec := alongSpec(t, table, "item,along(week):2")
	spec.Fit.Solver = "adam"
	if _, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), "adam has no priors along time") {
		t.Errorf("adam: error %v", err)
	}
}
