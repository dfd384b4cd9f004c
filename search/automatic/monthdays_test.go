package automatic

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/model"
)

// isTenth and isLastWorkday are days that differ from others in tests.
func isTenth(t time.Time) bool { return t.Day() <= 10 }

func noDay(time.Time) bool { return false }

func isLastWorkday(t time.Time) bool {
	next := t.AddDate(0, 0, 1)
	for next.Weekday() == time.Saturday || next.Weekday() == time.Sunday {
		next = next.AddDate(0, 0, 1)
	}
	return t.Weekday() != time.Saturday && t.Weekday() != time.Sunday && next.Month() != t.Month()
}

// TestPartOfMonth checks that the day or the workday of the month is found by which values differ, and none where values are
// correlated in time, in a few months, or all of weekends.
func TestPartOfMonth(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		days   int
		higher func(time.Time) bool
		want   string
	}{
		"first ten days":     {450, isTenth, "monthday"},
		"last workday":       {450, isLastWorkday, "workday"},
		"15th":               {450, func(t time.Time) bool { return t.Day() == 15 }, "monthday"},
		"last day":           {450, func(t time.Time) bool { return t.AddDate(0, 0, 1).Day() == 1 }, "monthday"},
		"a single day":       {450, func(t time.Time) bool { return t.Format(time.DateOnly) == "2021-03-09" }, ""},
		"no day":             {450, noDay, ""},
		"ten days, 4 months": {120, isTenth, ""},
		"open on Saturdays":  {900, noDay, ""},
	} {
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(seed, 3))
			values, level := map[time.Time]float64{}, 0.0
			for k := range one.days {
				day := time.Date(2021, 1, 1+k, 0, 0, 0, 0, time.UTC)
				if level = 0.7*level + rng.NormFloat64(); strings.HasSuffix(name, "Saturdays") && day.Weekday() != time.Saturday {
					continue
				}
				values[day] = level + float64(day.Weekday()) + 2*math.Sin(2*math.Pi*float64(k)/365)
				if one.higher(day) {
					values[day] += 4
				}
			}
			if got := partOfMonth(values); got != one.want {
				t.Errorf("%s, seed %d: got the part %q, want %q", name, seed, got, one.want)
			}
		}
	}
}

// TestMonthDays checks that forecasts of one series and of several know the first days of the month, and that series
// without them have no such effect.
func TestMonthDays(t *testing.T) {
	t.Parallel()
	for shops, terms := range map[int][]string{1: {"series(; day)", "day.weekday"}, 3: {"shop", "series(shop; day)", "day.weekday"}} {
		for _, amount := range []float64{0.4, 0} {
			effect := func(t time.Time) float64 {
				if isTenth(t) {
					return amount
				}
				return 0
			}
			c := daysChooser(t, 2, shops, effect, "time:last=28", terms...)
			if err := c.chooseMonthDays(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(c.spec.Terms, "day.monthday"); got != (amount > 0) {
				t.Errorf("%d shops, amount %g: got the terms %q", shops, amount, c.spec.Terms)
			}
			if len(c.folds) != 1 || c.folds[0] != c.data {
				t.Error("the divisions of months are left for the next choice")
			}
			if _, r, err := c.fit(t.Context(), c.spec, c.data); err != nil || amount > 0 && !(r.Valid.R2 > 0.7) {
				t.Errorf("%d shops: got R2 %.3f of the last days, %v, want more than 0.7", shops, r.Valid.R2, err)
			}
		}
	}
}

// Weekdays are also compared without the weeks and months of the year, as long as there are few years.
func TestPartsOfWeekAreOffered(t *testing.T) {
	t.Parallel()
	for years, offered := range map[int]bool{2: true, 4: false} {
		c := daysChooser(t, years, 2, noEffect, "time:last=10", "shop", "series(shop; day)")
		if err := c.chooseSeasons(t.Context()); err != nil {
			t.Fatal(err)
		}
		options := c.decisions[len(c.decisions)-1].Options
		if got := slices.ContainsFunc(options, func(o model.Candidate) bool { return strings.HasPrefix(o.Value, "parts of the week") }); got != offered {
			t.Errorf("%d years: got the candidates %v", years, options)
		}
	}
}
