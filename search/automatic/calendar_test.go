package automatic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Series that each have a season of their own are filled in by it.
func TestSeasonsOfSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	var text strings.Builder
	text.WriteString("state,purpose,month,trips\n")
	for s := range 4 {
		for p := range 3 {
			season := make([]float64, 12)
			for m := range season {
				season[m] = 20 * rng.NormFloat64()
			}
			for k := range 72 {
				fmt.Fprintf(&text, "s%d,p%d,%d-%02d,%.2f\n", s, p, 2015+k/12, k%12+1, 200+30*float64(s)+season[k%12]+4*rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "trips.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}}, train.Options{Threads: 2})
	terms := strings.Join(r.Spec.Terms, " + ")
	if !strings.Contains(terms, "state*purpose*time.month") || math.Sqrt(1-float64(r.Test.R2)) > 0.25 {
		t.Errorf("got R2 %g with the terms %s, want 0.94 or more with the seasons of each series", r.Test.R2, terms)
	}
}

// The hours that a few sensors share are an effect: each time has few rows, and each hour many.
func TestSharedPartsOfDate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(15, 16))
	var text strings.Builder
	text.WriteString("sensor,time,value\n")
	for s := range 4 {
		for k := range 24 * 12 {
			at := time.Date(2024, 3, 1, k, 0, 0, 0, time.UTC)
			fmt.Fprintf(&text, "s%d,%s,%.2f\n", s, at.Format("2006-01-02 15:04"), 20+float64(s)+5*math.Sin(math.Pi*float64(k%24)/12)+2*rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "sensors.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}}, train.Options{Threads: 2})
	if terms := strings.Join(r.Spec.Terms, " + "); !strings.Contains(terms+" ", "+ time.hour ") || r.Test.RMSE > 2.15 {
		t.Errorf("got an RMSE of %.3f with the terms %s, want little more than the noise of 2", r.Test.RMSE, terms)
	}
}

// Hours beside a time of days are ids: the hours of a place have series of their own.
func TestHoursBesideDays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 14))
	var text strings.Builder
	text.WriteString("place,hour,day,flights\n")
	for p := range 2 {
		for hour := range 6 {
			level := 50 + 10*rng.NormFloat64()
			for k := range 50 {
				level += 2 * rng.NormFloat64()
				fmt.Fprintf(&text, "p%d,%d,%s,%.2f\n", p, hour+6, time.Date(2024, 1, 1+k, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), level+0.5*rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "flights.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=5", Fit: spec.Fit{Effort: "quick"}}, train.Options{Threads: 2})
	if terms := strings.Join(r.Spec.Terms, " + "); !strings.Contains(terms, "series(place*hour; time)") {
		t.Errorf("got the terms %s, want a series of each place and hour", terms)
	}
}

// An earlier origin whose periods are a gap in the table has nothing to compare on.
func TestGapBeforeOrigin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("city,day,sales\n")
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for c := range 20 {
		for d := range 43 {
			if d < 28 || d > 30 {
				fmt.Fprintf(&text, "c%d,%s,%.2f\n", c, first.AddDate(0, 0, d).Format(time.DateOnly), float64(3*c+d)+2*rng.NormFloat64())
			}
		}
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=3"}, train.Options{Threads: 2})
	for _, d := range r.Decisions {
		for _, o := range d.Options {
			if o.CRPS != nil && math.IsNaN(*o.CRPS) {
				t.Errorf("%s: the CRPS of %s is not a number", d.Subject, o.Value)
			}
		}
	}
}
