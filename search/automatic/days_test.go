package automatic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// holidays are some days with their effects on the logarithm of sales.
var holidays = map[string]float64{"12-25": -1.2, "01-01": -1, "05-lastmon": -0.8, "thanksgiving0": -1, "easter1": -0.8, "07-04": 0.9, "12-24": 0.8}

func effectOf(day time.Time) float64 {
	for _, rule := range dataset.DayRules(day) {
		if e := holidays[rule]; e != 0 {
			return e
		}
	}
	return 0
}

func noEffect(time.Time) float64 { return 0 }

// daysChooser returns a chooser of the days of shops, whose sales have effects of days.
func daysChooser(t *testing.T, years, shops int, effect func(day time.Time) float64, split string, terms ...string) *chooser {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 22))
	var text strings.Builder
	text.WriteString("shop,day,sales\n")
	shared := 0.0
	for day := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2016+years; day = day.AddDate(0, 0, 1) {
		shared = 0.6*shared + 0.05*rng.NormFloat64()
		x := 4 + shared + 0.1*float64(day.Weekday()) + effect(day)
		for s := range shops {
			fmt.Fprintf(&text, "s%d,%s,%.3f\n", s, day.Format(time.DateOnly), x+0.2*float64(s)+0.1*rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	writeFile(t, file, text.String())
	modes := []string{"shop", "day"}
	if shops == 1 {
		modes = modes[1:]
	}
	s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "sales", Modes: modes},
		Split: split, Transform: "identity", Terms: terms, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &chooser{spec: s, data: data, folds: []*fitdata.Data{data}, effort: effort{rows: 1e5, sweeps: 5}, modes: s.ModeNames(), sizes: data.Sizes(), rows: data.Count(dataset.Train), scores: map[string]*score{}}
}

// Holidays are found, and days without any are not taken for some.
func TestChooseDays(t *testing.T) {
	t.Parallel()
	for _, with := range []bool{true, false} {
		effect := noEffect
		if with {
			effect = effectOf
		}
		c := daysChooser(t, 6, 1, effect, "random:70/15/15", "series(; day)", "day.weekday")
		if err := c.chooseDays(t.Context()); err != nil {
			t.Fatal(err)
		}
		terms := strings.Join(c.spec.Terms, " + ")
		for rule := range holidays {
			if with != strings.Contains(terms, "_"+rule) {
				t.Errorf("holidays %t: got the terms %s, which differ in %s", with, terms, rule)
			}
		}
	}
	c := daysChooser(t, 1, 1, effectOf, "random:70/15/15", "series(; day)", "day.weekday")
	if err := c.chooseDays(t.Context()); err != nil || len(c.decisions) > 0 {
		t.Errorf("got the decisions %v, %v of one year", c.decisions, err)
	}
}

// A forecast of the days of Christmas has what they had in earlier years.
func TestForecastDays(t *testing.T) {
	t.Parallel()
	c := daysChooser(t, 4, 3, effectOf, "time:last=5", "shop", "series(; day)", "day.weekday")
	c.spec.Uncertainty.Conformal = "horizon"
	scores := c.scores
	if err := c.chooseDays(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(scores) > 0 || len(c.folds) != 1 || c.folds[0] != c.data {
		t.Error("the divisions of days are left for the next choice")
	}
	if c.spec.Uncertainty.Conformal != "horizon" {
		t.Errorf("the conformal correction is %s after the choice", c.spec.Uncertainty.Conformal)
	}
	c.spec.Uncertainty.Conformal = "none"
	_, with, err := c.fit(t.Context(), c.spec, c.data)
	if err != nil {
		t.Fatal(err)
	}
	if terms := strings.Join(c.spec.Terms, " + "); !strings.Contains(terms, "12-25") || with.Valid.R2 < 0.8 {
		t.Errorf("got R2 %.3f of Christmas with the terms %s, want 0.8 or more", with.Valid.R2, terms)
	}
}

// A single event, or a few of a month that varies much, are no rule.
func TestFindDays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	errors := map[time.Time]float64{}
	for day := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2021; day = day.AddDate(0, 0, 1) {
		errors[day] = rng.NormFloat64() * (2 + math.Cos(2*math.Pi*float64(day.YearDay())/365))
		switch {
		case day.Format("01-02") == "10-03":
			errors[day] += 8
		case day.Format(time.DateOnly) == "2018-08-15":
			errors[day] = 100
		}
	}
	if got := strings.Join(findDays(errors), " "); got != "10-03" {
		t.Errorf("got the rules %q, want 10-03", got)
	}
	if got := findDays(map[time.Time]float64{}); len(got) > 0 {
		t.Errorf("got the rules %v of no days", got)
	}
}
