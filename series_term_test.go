package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/solver"
)

// seriesTable returns a table of 60 weeks as text, see [testtable.Series].
func seriesTable(kind string, seed uint64) string {
	var b strings.Builder
	b.WriteString("shop,item,week,units\n")
	testtable.Series(kind, 60, rand.New(rand.NewPCG(seed, 1)), func(shop, item, week int, y float64) {
		fmt.Fprintf(&b, "s%d,i%d,%d,%.4f\n", shop, item, week, y)
	})
	return b.String()
}

func seriesSpec(t testing.TB, table, term string) kft.Spec {
	return kft.Spec{Data: kft.DataSpec{Files: []string{writeFile(t, "units.csv", table)}, Target: "units", Modes: []string{"shop", "item", "week"}},
		Split: "time:last=6", Terms: []string{"shop", "item", term}, Uncertainty: kft.UncertaintySpec{Inference: "mean-field"}}
}

// TestSeriesTermsForecast checks forecasts 7 to 12 steps ahead: intervals cover, and
// the model is about as good as the best formula, which knows the table's law by chance, or
// better.
func TestSeriesTermsForecast(t *testing.T) {
	t.Parallel()
	for kind, term := range map[string]string{"walk": "series(shop*item; week)", "ar": "series(shop*item; week)", "season": "series(shop*item; week; walk, season=12)"} {
		_, r := fit(t, seriesSpec(t, seriesTable(kind, 1), term), kft.Options{})
		if c := float64(r.Test.Calibration.Coverage90); c < 0.87 || c > 0.93 {
			t.Errorf("%s: 90 %% intervals hold %.3f", kind, c)
		}
		if best, _ := r.BestFormula(); r.Test.RMSE > 1.02*best.Test.RMSE {
			t.Errorf("%s: RMSE %.3f, formula %q %.3f", kind, r.Test.RMSE, best.Name, best.Test.RMSE)
		}
	}
}

// TestSeriesTermsSurviveTheFile checks that a model with series predicts the same after
// it was saved, for past, missing and future steps and for new ids, and on any number of
// threads, and that draws agree with the moments.
func TestSeriesTermsSurviveTheFile(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"series(shop*item; week; walk, ar, trend)", "series(shop*item; week; walk, ar, scale)"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			testSeriesFile(t, term)
		})
	}
}

func testSeriesFile(t *testing.T, term string) {
	spec := seriesSpec(t, seriesTable("walk", 2), term)
	spec.Fit.Sweeps = 4
	m, _ := fit(t, spec, kft.Options{Threads: 1})
	other, _ := fit(t, spec, kft.Options{Threads: 3})
	var file, otherFile bytes.Buffer
	for m, to := range map[*kft.Model]*bytes.Buffer{m: &file, other: &otherFile} {
		if _, err := m.WriteTo(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(file.Bytes(), otherFile.Bytes()) {
		t.Error("1 and 3 threads give different files")
	}
	loaded, err := kft.ReadModel(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	terms := loaded.Terms()
	if last := terms[len(terms)-1]; len(terms) != 3 || !strings.HasPrefix(last.Name, "series(shop*item; week") || last.Series != 180 {
		t.Errorf("the model describes its terms as %+v; want shop, item and 180 series", terms)
	}
	var cells []kft.Cell
	for _, week := range []string{"1", "30", "48", "49", "55", "61", "80"} {
		cells = append(cells, kft.Cell{"shop": "s1", "item": "i2", "week": week})
	}
	cells = append(cells, kft.Cell{"shop": "s1", "item": "new", "week": "61"}, kft.Cell{"shop": "s1", "item": "i2", "week": "soon"})
	want := sameAfterLoading(t, m, loaded, cells)
	for i := 3; i < 7; i++ {
		if want[i].SD <= want[i-1].SD {
			t.Errorf("the forecast of week %s is no less certain than that of %s: sd %g, %g", cells[i]["week"], cells[i-1]["week"], want[i].SD, want[i-1].SD)
		}
	}
	const draws = 4000
	samples, err := m.Samples(t.Context(), cells, draws)
	if err != nil {
		t.Fatal(err)
	}
	for i := range cells[:7] {
		sum, square := 0.0, 0.0
		for _, y := range samples[i] {
			sum += y
			square += y * y
		}
		mean := sum / draws
		sd := math.Sqrt(square/draws - mean*mean)
		if math.Abs(mean-want[i].Mean) > 5*want[i].SD/math.Sqrt(draws) || math.Abs(sd/want[i].SD-1) > 0.07 {
			t.Errorf("cell %v: draws have mean %g and sd %g, the prediction %g and %g", cells[i], mean, sd, want[i].Mean, want[i].SD)
		}
	}
}

// TestSeriesBoundNeverFalls checks that the evidence bound rises in every sweep, and that
// a point estimate has series too.
func TestSeriesBoundNeverFalls(t *testing.T) {
	t.Parallel()
	for inference, term := range map[string]string{"mean-field": "series(shop*item; week)", "map": "series(shop*item; week)", "entity-covariance": "series(shop*item; week; walk, ar, scale)"} {
		spec := seriesSpec(t, seriesTable("ar", 3), term)
		spec.Uncertainty.Inference = inference
		_, r := fit(t, spec, kft.Options{})
		for _, w := range r.Warnings {
			if strings.Contains(w, "bound decreased") {
				t.Error(w)
			}
		}
		if inference == "mean-field" && slices.IndexFunc(r.History, func(p solver.Point) bool { return p.Bound != 0 }) < 0 {
			t.Error("no bound was recorded")
		}
		if r.Test.R2 < 0.25 {
			t.Errorf("%s: R2 %.3f", inference, r.Test.R2)
		}
	}
}

func TestSeriesTermErrors(t *testing.T) {
	t.Parallel()
	table := seriesTable("walk", 1)
	for term, want := range map[string]string{
		"series(shop*item)":                 "write a series as series(store*item; time)",
		"series(shop*item; day)":            `unknown mode of time "day"`,
		"series(week; week)":                "week is the mode of time",
		"series(shop,item; week)":           "join the modes of a series by *",
		"series(shop; week; winter)":        `unknown part "winter"`,
		"series(shop; week; season=1)":      "not a number of steps from 2",
		"series(shop; week; season=9999)":   "a season of 9999 steps is longer than the table, which has 60 periods of mode week",
		"series(shop*item; week; season":    "write a series as",
		"series(shop; week; season=12) + 1": "write a series as",
	} {
		spec := seriesSpec(t, table, term)
		spec.Split = "random:80/20"
		if _, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", term, err, want)
		}
	}
}

// TestSeriesAreLearnedWithTheirNoise checks panels of walks with little noise. Effects of ids leave
// all movement to the noise at the start; series that are learned with that noise do not move, and
// the noise stays.
func TestSeriesAreLearnedWithTheirNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString("id,year,y\n")
	for id := range 60 {
		level := 20 * rng.NormFloat64()
		for year := range 14 {
			level += rng.NormFloat64()
			fmt.Fprintf(&b, "i%d,%d,%.4f\n", id, 2000+year, level+0.7*rng.NormFloat64())
		}
	}
	spec := kft.Spec{Data: kft.DataSpec{Files: []string{writeFile(t, "panel.csv", b.String())}, Target: "y", Modes: []string{"id", "year"}},
		Split: "time:last=1", Transform: "identity", Terms: []string{"id", "series(id; year; walk)"}, Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Mixing: "none"}, Fit: kft.FitSpec{Sweeps: 9}}
	_, r := fit(t, spec, kft.Options{})
	if r.Train.RMSE > 0.65 {
		t.Errorf("after 9 sweeps the training RMSE is %.2f, for noise of 0.7", r.Train.RMSE)
	}
}
