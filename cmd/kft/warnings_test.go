package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// visits returns a table of visits by shop and day, with the day in a layout of package time.
// Its columns can be renamed.
func visits(layout string, days int, names ...string) string {
	if names == nil {
		names = []string{"shop", "day", "visits"}
	}
	var b strings.Builder
	b.WriteString(strings.Join(names, ",") + "\n")
	r := rand.New(rand.NewPCG(1, 2))
	for d := range days {
		day := time.Date(2016, 1, 1+d, 0, 0, 0, 0, time.UTC).Format(layout)
		for s := range 12 {
			fmt.Fprintf(&b, "S%02d,%s,%.2f\n", s+1, day, 10+float64(s)+3*float64(d%7)+r.NormFloat64())
		}
	}
	return b.String()
}

var fitVisits = []string{"fit", "visits.csv", "--target", "visits", "--modes", "shop,day", "--rank", "2", "--sweeps", "3", "--quiet"}

// warned runs a command that succeeds and returns its warnings.
func warned(t *testing.T, args ...string) []string {
	t.Helper()
	r := must(t, args...)
	var warnings []string
	for _, line := range strings.Split(r.stdout+r.stderr, "\n") {
		if text, found := strings.CutPrefix(line, "warning: "); found {
			warnings = append(warnings, text)
		}
	}
	return warnings
}

func checkWarned(t *testing.T, warnings []string, want ...string) {
	t.Helper()
	if len(warnings) != len(want) {
		t.Fatalf("got %d warnings, want %d: %q", len(warnings), len(want), warnings)
	}
	for i, text := range want {
		for _, piece := range strings.Split(text, "|") {
			if !strings.Contains(warnings[i], piece) {
				t.Errorf("got warning %q, want one with %q", warnings[i], piece)
			}
		}
	}
}

func TestPredictUnknownIDs(t *testing.T) {
	inEmptyFolder(t)
	table := visits("2006-01-02", 40)
	write(t, "visits.csv", table)
	must(t, fitVisits...)
	checkWarned(t, warned(t, "predict", "model.kft", "visits.csv", "-o", "out.csv"))

	write(t, "lower.csv", strings.ReplaceAll(table, "S", "s"))
	checkWarned(t, warned(t, "predict", "model.kft", "lower.csv", "-o", "out.csv", "--quiet"),
		`mode shop: all 480 rows have an id that is not in the training data and are predicted as an average shop; the table has "s01", "s02", "s03", ..., the model "S01", |upper and lower case`)
	write(t, "empty.csv", strings.ReplaceAll(strings.ReplaceAll(table, "S01", ""), "S", "s"))
	checkWarned(t, warned(t, "predict", "model.kft", "empty.csv", "-o", "out.csv", "--quiet"),
		`mode shop: 440 of 480 rows have an id that is not in the training data (and 40 rows have none)|upper and lower case`)
	write(t, "one.csv", "shop,day\ns01,2016-01-01\n")
	checkWarned(t, warned(t, "predict", "model.kft", "one.csv", "-o", "out.csv", "--quiet"), "mode shop: the only row has an id that is not in the training data and is predicted as an average shop")
	write(t, "two.csv", "shop,day\nS01,2016-01-01\n,2016-01-01\n")
	checkWarned(t, warned(t, "predict", "model.kft", "two.csv", "-o", "out.csv", "--quiet"))
	write(t, "numbers.csv", strings.ReplaceAll(table, "S0", "S"))
	checkWarned(t, warned(t, "predict", "model.kft", "numbers.csv", "-o", "out.csv"), "mode shop: 360 of 480 rows|apart from leading zeros")
	write(t, "dots.csv", visits("02.01.2006", 40))
	checkWarned(t, warned(t, "predict", "model.kft", "dots.csv", "-o", "out.csv"),
		`mode day: all 480 rows|"01.01.2016"|the dates of the table are written as dd.mm.yyyy, those of the model as yyyy-mm-dd; write them in the same way`)
	// Nothing is known: no number of the output would mean anything.
	write(t, "other.csv", strings.ReplaceAll(visits("200601", 40), "S", "Shop "))
	refused(t, exitFailed, []string{"other.csv: no id of the 480 rows is in the training data", `"Shop 01"`, "yyyymm", "--allow-unknown"}, "predict", "model.kft", "other.csv", "-o", "other.out.csv")
	if found, _ := filepath.Glob("other.out.csv"); found != nil {
		t.Error("the refused prediction was written")
	}
	checkWarned(t, warned(t, "predict", "model.kft", "other.csv", "-o", "out.csv", "--allow-unknown"), "mode shop: all 480 rows", "mode day: all 480 rows")
	// An evaluation tells it too.
	checkWarned(t, slices.DeleteFunc(warned(t, "evaluate", "model.kft", "dots.csv"), func(w string) bool { return strings.Contains(w, "intervals") }), "dd.mm.yyyy")
}

// A model without information about future periods forecasts one number; fit and predict
// say so, and side information computed from the ids removes the cause.
func TestSameFuture(t *testing.T) {
	inEmptyFolder(t)
	write(t, "visits.csv", visits("2006-01-02", 40))
	const future = "every day after 2016-01-20 gets the same prediction"
	args := append(slices.Clone(fitVisits), "--split", "time:last=10")
	const wide = "the intervals are too wide" // of a model that says the same of all days
	checkWarned(t, warned(t, args...), future+"|side.tables (--side)", wide)
	write(t, "next.csv", "shop,day\nS01,2016-03-01\nS01,2016-03-02\nS02,2016-03-02\n")
	checkWarned(t, warned(t, "predict", "model.kft", "next.csv", "-o", "out.csv"), "all 3 rows: "+future)
	checkWarned(t, warned(t, append(args, "--side", "day=@weekday:cat", "--variant", "additive")...))
	checkWarned(t, warned(t, "predict", "model.kft", "next.csv", "-o", "out.csv"))
	write(t, "noon.csv", "shop,day\nS01,2016-03-01\nS01,2016-03-01 12:00\n")
	checkWarned(t, warned(t, "predict", "model.kft", "noon.csv", "-o", "out.csv"), "mode day has the id 2016-03-01 12:00: this does not name a period, which is a day written as 2016-02-09")
}

// Intervals that hold far too many values are reported with figures, and the remedy works.
func TestWideIntervals(t *testing.T) {
	inEmptyFolder(t)
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString("shop,day,visits\n")
	for s := range 40 {
		for d := range 60 {
			noise := 0.01 * r.NormFloat64()
			if r.IntN(30) == 0 { // rare and large: the noise of most rows is overstated
				noise = 20 * r.NormFloat64()
			}
			fmt.Fprintf(&b, "%d,%d,%.3f\n", s, d, float64(s)+float64(d)/7+noise)
		}
	}
	write(t, "visits.csv", b.String())
	args := []string{"fit", "visits.csv", "--target", "visits", "--modes", "shop,day", "--conformal", "none", "--term", "shop", "--term", "day", "--quiet"}
	checkWarned(t, warned(t, args...), "the intervals are too wide: those of 30 % contain 8|% of the values of the test set|set uncertainty.conformal (--conformal) to split")
	var report struct{ Warnings []string }
	if err := json.Unmarshal([]byte(must(t, "evaluate", "model.kft", "visits.csv", "--part", "test", "--json").stdout), &report); err != nil {
		t.Fatal(err)
	}
	checkWarned(t, report.Warnings, "the intervals are too wide: those of 30 %|% of the values of the test set")
	refused(t, exitUsage, []string{"--part: errors on training rows are too small"}, "calibrate", "model.kft", "visits.csv", "--part", "train", "-o", "calibrated.kft")
	write(t, "other.csv", "shop,day,visits\n1,1,1\n")
	refused(t, exitFailed, []string{"other.csv is not the table that the model was fitted to", "leave out --part"}, "calibrate", "model.kft", "other.csv", "--part", "test", "-o", "calibrated.kft")
	must(t, "calibrate", "model.kft", "visits.csv", "--part", "valid", "-o", "calibrated.kft")
	checkWarned(t, warned(t, "evaluate", "calibrated.kft", "visits.csv", "--part", "test"))
}

// Columns of the table may have the names of added columns.
func TestColumnsNamedLikeResults(t *testing.T) {
	inEmptyFolder(t)
	write(t, "visits.csv", visits("2006-01-02", 20, "sd", "unseen", "median"))
	must(t, "fit", "visits.csv", "--target", "median", "--modes", "sd,unseen", "--rank", "1", "--sweeps", "2")
	r := must(t, "predict", "model.kft", "visits.csv", "--quantiles", ".1,.9")
	if !strings.HasPrefix(r.stdout, "sd,unseen,median,prediction,kft_median,kft_sd,sd_model,sd_noise,q0.1,q0.9,kft_unseen\nS01,2016-01-01,10.") {
		t.Errorf("wrote %q", r.stdout[:200])
	}
	if !strings.Contains(r.stderr, "note: the added column sd is called kft_sd, because the table of the model has a column sd\n") {
		t.Errorf("said %q", r.stderr)
	}
	must(t, "evaluate", "model.kft", "visits.csv")
	must(t, "predict", "model.kft", "visits.csv", "-o", "out.parquet")
}
