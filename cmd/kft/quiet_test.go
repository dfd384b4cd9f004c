package main

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// With -q there is neither progress nor notes, and warnings stay on standard error.
func TestQuietKeepsWarnings(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	posterior := fitSales("--term", "store", "--term", "time", "--sweeps", "2", "--inference", "mean-field")
	for _, c := range []struct {
		args    []string
		warning string
	}{
		{append(posterior, "-q"), ""},
		{[]string{"calibrate", "model.kft", "sales.csv", "-o", "c.kft", "-q"}, "warning: sales.csv is the table of the fit"},
		{[]string{"update", "model.kft", "sales.csv", "--late", "-o", "u.kft", "-q"}, "warning: sales.csv is the table of the fit"},
		{[]string{"forecast", "model.kft", "--horizon", "2", "-o", "f.csv", "-q"}, "warning: every time after 2023-8 gets the same prediction"},
		{fitSales("--term", "store", "--sweeps", "2", "--side-replace", "noise", "--rate", ".1", "--solver", "adam", "--epochs", "1", "--side", "store=@id", "-q"), "warning: --side-replace is deprecated; use --placebo"},
		{[]string{"report", "model.kft", "-o", "r.html", "-q"}, ""},
	} {
		r := call(t, c.args...)
		if !strings.HasPrefix(r.stderr, c.warning) || c.warning == "" && r.stderr != "" || strings.Contains(r.stderr, "note: ") || strings.Contains(r.stderr, "reading") {
			t.Errorf("kft %s: got\n%s\nwant the warning %q", strings.Join(c.args, " "), r.stderr, c.warning)
		}
	}
}

// The note on a fit for forecasts is the first, because it is the remedy of the warnings.
func TestForecastNoteComesFirst(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--term", "store", "--term", "time", "--sweeps", "2", "-q")...)
	r := must(t, "forecast", "model.kft", "--horizon", "2", "-o", "f.csv")
	if want := "note: this model was not fitted for forecasts; kft fit TABLE --forecast 2 fits one that is chosen and measured on later periods\nwarning: "; !strings.HasPrefix(r.stderr, want) {
		t.Errorf("got\n%s\nwant first\n%s", r.stderr, want)
	}
}

func TestEffortNote(t *testing.T) {
	for _, c := range []struct {
		effort  string
		seconds float64
		choices int
		want    bool
	}{{"normal", 21, 1, true}, {"thorough", 21, 1, true}, {"normal", 20, 1, false}, {"quick", 21, 1, false}, {"normal", 21, 0, false}} {
		r := &kft.Report{Seconds: map[string]float64{"total": c.seconds}}
		r.Decisions = make([]kft.Decision, c.choices)
		r.Spec.Fit.Effort = c.effort
		if note := effortNote(r); (note != "") != c.want || c.want && !strings.Contains(note, "--effort quick") {
			t.Errorf("%+v: got %q", c, note)
		}
	}
}
