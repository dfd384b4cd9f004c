package automatic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// A table of dates and values alone is one series: its scale, trend and seasons are chosen,
// and it forecasts better than every formula.
func TestSingleSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name  string
		rows  int
		ahead int
		id    func(k int) string
		value func(k int) float64
		want  string // in the terms
	}{
		{"months with growth", 120, 12, func(k int) string { return fmt.Sprintf("%d%02d", 2010+k/12, k%12+1) },
			func(k int) float64 {
				return 100 * math.Exp(0.01*float64(k)+0.2*math.Sin(math.Pi*float64(k)/6)+0.03*rng.NormFloat64())
			}, "season=12"},
		{"hours", 24 * 28, 24, func(k int) string { return fmt.Sprintf("2024-02-%02d %02d:00", k/24+1, k%24) },
			func(k int) float64 { return 50 + 10*math.Sin(math.Pi*float64(k%24)/12) + rng.NormFloat64() }, "time.hour"},
		{"half hours", 48 * 15, 48, func(k int) string { return fmt.Sprintf("2024-02-%02d %02d:%02d", k/48+1, k%48/2, k%2*30) },
			func(k int) float64 {
				return 50 + 5*float64(k%2) + 10*math.Sin(math.Pi*float64(k%48)/24) + rng.NormFloat64()
			}, "time.clock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString("when,value\n")
			for k := range c.rows {
				fmt.Fprintf(&text, "%s,%.3f\n", c.id(k), c.value(k))
			}
			file := filepath.Join(t.TempDir(), "series.csv")
			writeFile(t, file, text.String())
			s := spec.Spec{Data: spec.Data{Files: []string{file}}, Split: fmt.Sprintf("time:last=%d", c.ahead), Fit: spec.Fit{Effort: "quick", Refit: "all"}}
			m, r := mustFit(t, s, train.Options{Threads: 2})
			if terms := strings.Join(r.Spec.Terms, " + "); !strings.Contains(terms, "series(; time") || !strings.Contains(terms, c.want) {
				t.Errorf("got the terms %s, want a series with %s", terms, c.want)
			}
			if best, ok := r.BestFormula(); !ok || r.Test.RMSE > 1.05*best.Test.RMSE { // the test sets have 12 to 48 rows
				t.Errorf("got RMSE %g, want less than %g of %s", r.Test.RMSE, best.Test.RMSE, best.Name)
			}
			if r.Refit == nil || m.Series() == nil || m.Series().Len() != 1 || m.Series().End != int64(c.rows-1) {
				t.Errorf("the model knows the series %+v, refit %v; want one up to the last row", m.Series(), r.Refit)
			}
		})
	}
}

// The hours of the weekdays of a few series, with one mode beside the time, are offered
// without repeating the effects of its ids.
func TestHoursOfFewSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	var text strings.Builder
	text.WriteString("sensor,when,value\n")
	for s := range 2 {
		for k := range 24 * 21 {
			value := 20 + 5*float64(s) + 6*math.Sin(math.Pi*float64(k%24+(7+k/24%7)*s)/12) + 0.5*rng.NormFloat64()
			fmt.Fprintf(&text, "s%d,2024-02-%02d %02d:00,%.3f\n", s, k/24+1, k%24, value)
		}
	}
	file := filepath.Join(t.TempDir(), "hours.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=24"}, train.Options{Threads: 2})
	if terms := strings.Join(r.Spec.Terms, " + "); r.Test.R2 < 0.95 || !strings.Contains(terms, "sensor*time.hour*time.weekday") {
		t.Errorf("got R2 %g with the terms %s, want 0.95 or more and the hours of weekdays", r.Test.R2, terms)
	}
}

// The way in which a table writes its days and months, and the name of their column, do not
// change its seasons.
func TestSeasonsInAnyFormat(t *testing.T) {
	t.Parallel()
	fit := func(column, layout string, next func(k int) time.Time, season func(t time.Time) float64) *train.Report {
		rng := rand.New(rand.NewPCG(9, 10))
		var text strings.Builder
		fmt.Fprintf(&text, "shop,%s,units\n", column)
		for s := range 4 {
			for k := range 48 {
				at := next(k)
				fmt.Fprintf(&text, "s%d,%s,%.3f\n", s, at.Format(layout), 30+5*float64(s)+8*season(at)+rng.NormFloat64())
			}
		}
		file := filepath.Join(t.TempDir(), "sales.csv")
		writeFile(t, file, text.String())
		_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=4", Fit: spec.Fit{Effort: "quick", Refit: "all"}}, train.Options{Threads: 2})
		return r
	}
	for _, c := range []struct {
		part    string
		next    func(k int) time.Time
		season  func(t time.Time) float64
		columns []string
		layouts []string
	}{
		{"time.weekday", func(k int) time.Time { return time.Date(2022, 1, 1+k, 0, 0, 0, 0, time.UTC) },
			func(t time.Time) float64 { return math.Cos(2 * math.Pi * float64(t.Weekday()) / 7) }, []string{"date", "day"}, []string{"2006-01-02", "02/01/2006", "2-Jan-2006"}},
		{"time.month", func(k int) time.Time { return time.Date(2018, time.Month(1+k), 1, 0, 0, 0, 0, time.UTC) },
			func(t time.Time) float64 { return math.Cos(2 * math.Pi * float64(t.Month()) / 12) }, []string{"date", "month"}, []string{"2006-01", "01/2006", "01.2006", "Jan 2006", "200601"}},
	} {
		want := fit(c.columns[0], c.layouts[0], c.next, c.season)
		if terms := strings.Join(want.Spec.Terms, " + "); !strings.Contains(terms, c.part) || want.Test.R2 < 0.9 {
			t.Errorf("got R2 %g with the terms %s, want 0.9 or more with %s", want.Test.R2, terms, c.part)
		}
		for _, column := range c.columns {
			for _, layout := range c.layouts {
				if got := fit(column, layout, c.next, c.season); math.Abs(float64(got.Test.R2-want.Test.R2)) > 1e-6 {
					t.Errorf("column %s as %s: got R2 %g with the terms %q, want %g with %q", column, layout, got.Test.R2, got.Spec.Terms, want.Test.R2, want.Spec.Terms)
				}
			}
		}
	}
}

// Random walks with gaps at random are series, and a train beside them gains nothing.
func TestRandomWalksAreSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("stock,month,price\n")
	for s := range 5 {
		level := math.Log(40 * float64(1+s))
		for k := range 120 {
			level += 0.12 * rng.NormFloat64()
			fmt.Fprintf(&text, "s%d,%d-%02d,%.3f\n", s, 2000+k/12, k%12+1, math.Exp(level))
		}
	}
	file := filepath.Join(t.TempDir(), "stocks.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}}, train.Options{Threads: 2})
	terms := strings.Join(r.Spec.Terms, " + ")
	if r.Test.R2Scale < 0.97 || !strings.Contains(terms, "series(stock; time)") {
		t.Errorf("got R2 %g on the modelling scale with the terms %s, want 0.97 or more and a series", r.Test.R2Scale, terms)
	}
}

// One id per row without an order in time is refused.
func TestOneModeWithoutTime(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("name,value\n")
	for k := range 60 {
		fmt.Fprintf(&text, "n%c%c,%d\n", 'a'+k%26, 'a'+k/26, k*k%17)
	}
	file := filepath.Join(t.TempDir(), "names.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "value", Modes: []string{"name"}}}
	if _, _, err := search.Fit(t.Context(), s, tableio.Source{}, train.Options{}); err == nil || !strings.Contains(err.Error(), "only mode") {
		t.Errorf("got error %v, want that the only mode has one row per id", err)
	}
}

// One series of yes and no has the likelihood of such values.
func TestSingleSeriesOfEvents(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("year,rain,flood\n")
	for k := range 160 {
		rain := rng.Float64()
		fmt.Fprintf(&text, "%d,%.2f,%d\n", 1850+k, rain, int(rain+0.6*rng.Float64()))
	}
	file := filepath.Join(t.TempDir(), "floods.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Fit: spec.Fit{Effort: "quick"}}, train.Options{Threads: 2})
	if r.Spec.Uncertainty.Likelihood != "bernoulli" || !strings.Contains(strings.Join(r.Spec.Terms, " "), "rain") {
		t.Errorf("got likelihood %s, terms %v", r.Spec.Uncertainty.Likelihood, r.Spec.Terms)
	}
}

// A short series has too few training rows because of the periods that are held out.
func TestTooFewRowsToForecast(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("year,value\n")
	for k := range 20 {
		fmt.Fprintf(&text, "%d,%d\n", 2000+k, 10+k*k%7)
	}
	file := filepath.Join(t.TempDir(), "series.csv")
	writeFile(t, file, text.String())
	_, _, err := search.Fit(t.Context(), spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=6"}, tableio.Source{}, train.Options{Threads: 1})
	if err == nil || !strings.Contains(err.Error(), "has only 8 rows") || !strings.Contains(err.Error(), "hold out fewer periods") {
		t.Errorf("got %v, want the advice to hold out fewer periods", err)
	}
}
