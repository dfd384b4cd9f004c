package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A split by time names the periods that it holds out, in order of time.
func TestPeriodsAreNamed(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	modes := []string{"--target", "units", "--modes", "store,item,time=month+year", "--split", "time:last=2"}
	r := must(t, append([]string{"split", "sales.csv"}, modes...)...)
	for _, want := range []string{"  9-2023 to 10-2023\n", "  11-2023 to 12-2023\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q does not say %q", r.stdout, want)
		}
	}
	fit := slices.Concat([]string{"fit", "sales.csv", "--rank", "1", "--sweeps", "1"}, modes)
	r = must(t, fit...)
	if !strings.Contains(r.stdout, "\n      valid: 9-2023 to 10-2023\n      test: 11-2023 to 12-2023\n") {
		t.Errorf("%s", r.stdout)
	}
	var report struct{ Periods map[string]string }
	if err := json.Unmarshal([]byte(must(t, append(fit, "--json")...).stdout), &report); err != nil || report.Periods["test"] != "11-2023 to 12-2023" {
		t.Errorf("%v, %v", report, err)
	}
	write(t, "day.csv", "store,at,y\na,2016-01-01 05:00,1\nb,2016-01-01 06:00,2\na,2016-01-02 06:00,3\nb,2016-01-02 07:00,5\n")
	refused(t, exitFailed, []string{"mode hour is hour(at), which is cyclic", "yearmonth(at) or date(at)"},
		"fit", "day.csv", "--target", "y", "--modes", "store,hour(at)", "--split", "time:last=1", "--rank", "1")
}

// Nothing follows the last month of a year that is not known. Months that do not reach the end
// of the year may not be in order, which is a warning.
func TestCyclicPeriods(t *testing.T) {
	inEmptyFolder(t)
	writeMonths := func(months int, text func(month int) string) {
		var table strings.Builder
		table.WriteString("store,month,y\n")
		for month := 1; month <= months; month++ {
			for store := range 3 {
				fmt.Fprintf(&table, "s%d,%s,%d\n", store, text(month), month*store+store*store)
			}
		}
		write(t, "t.csv", table.String())
	}
	args := []string{"t.csv", "--target", "y", "--modes", "store,month"}
	writeMonths(9, strconv.Itoa)
	split := append(args, "--split", "time:last=2")
	for _, r := range []result{must(t, append([]string{"split"}, split...)...), must(t, append([]string{"fit", "--rank", "1"}, split...)...)} {
		if !strings.Contains(r.stdout, "warning: ") || !strings.Contains(r.stdout, "a month is cyclic") {
			t.Errorf("%s", r.stdout)
		}
	}
	for _, text := range []func(int) string{strconv.Itoa, func(m int) string { return time.Month(m).String() }} {
		writeMonths(12, text)
		want := []string{"nothing can follow the last month of a cycle", "time=year+month"}
		refused(t, exitFailed, want, append([]string{"fit"}, split...)...)
		refused(t, exitFailed, want, append([]string{"fit", "--forecast", "2"}, args...)...)
	}
}

// Columns can have any name: fit reads what init writes.
func TestOddColumnNames(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	table := strings.Replace(read(t, "sales.csv"), "year,month,store,item,units", `year,month,"store, id",a+b=(c),units`, 1)
	write(t, "odd.csv", table)
	must(t, "init", "odd.csv")
	r := must(t, "fit", "--rank", "1", "--sweeps", "1")
	if !strings.Contains(r.stdout, "12 mode3 x 15 mode4 x 8 time") {
		t.Errorf("%s", r.stdout)
	}
	must(t, "fit", "odd.csv", "--target", "units", "--modes", `store="store, id",item="a+b=(c)",time=year+month`, "--rank", "1", "--sweeps", "1", "-o", "flags.kft")
	must(t, "split", "odd.csv", "--target", "units", "--modes", `store="store, id",item="a+b=(c)"`, "--modes", "time=year+month")
	refused(t, exitUsage, []string{"a column with that name is written in quotes"}, "fit", "odd.csv", "--target", "units", "--modes", "usd=price(usd)")
}

// A column of numbers that is left out because of units or a few values that are none is a warning,
// which -q and --json keep.
func TestDamagedColumnWarns(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,price,load,units\n")
	for i := range 96 {
		price := fmt.Sprintf("%d.25", i*7%31)
		if i == 50 {
			price = "inf"
		}
		fmt.Fprintf(&b, "S%d,2024-%02d,%s,%d kg,%d\n", i/12, 1+i%12, price, 200+i*11%89, 10+i*i%17)
	}
	write(t, "t.csv", b.String())
	r := must(t, "fit", "t.csv", "-q", "--rank", "1", "--sweeps", "1")
	for _, want := range []string{
		`warning: column price is not used: numbers, but line 52: "inf" is not a number; correct such values`,
		`warning: column load is not used: numbers with a unit; without "kg" they may be a target or a covariate`,
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("got\n%s\nwant\n%s", r.stdout, want)
		}
	}
}

// A constant column with the name of a target is named in a warning, because another column is predicted. That so few rows have no
// conformal correction is a note.
func TestConstantTargetWarns(t *testing.T) {
	inEmptyFolder(t)
	for value, reason := range map[string]string{"3": "the same value in every row", "": "it is empty"} {
		var b strings.Builder
		b.WriteString("a,b,c,y\n")
		for i := range 96 {
			fmt.Fprintf(&b, "%d.25,%c,%d.5,%s\n", i*7%31, 'p'+rune(i%3), i*i%17, value)
		}
		write(t, "t.csv", b.String())
		args := []string{"fit", "t.csv", "-q", "--effort", "quick", "--inference", "mean-field"}
		r := must(t, args...)
		for _, want := range []string{
			"warning: column y has the name of a target, but " + reason + ", so that column c is predicted; to predict another one, name it as data.target (--target)\n",
			"\nNote: intervals have no conformal correction, because the validation set has only 19 rows; ",
		} {
			if !strings.Contains(r.stdout, want) {
				t.Errorf("got\n%s\nwant\n%s", r.stdout, want)
			}
		}
		var report struct{ Notes, Warnings []string }
		if err := json.Unmarshal([]byte(must(t, append(args, "--json")...).stdout), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Notes) != 1 || slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "conformal") }) {
			t.Errorf("got the notes %q and the warnings %q", report.Notes, report.Warnings)
		}
		if r := must(t, append(args, "--target", "a")...); strings.Contains(r.stdout, "the name of a target") {
			t.Errorf("got a warning although the target is given:\n%s", r.stdout)
		}
	}
}

// The flag that the last line of a fit proposes works as it is written.
func TestUnusedColumnsCanBePasted(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,\"price, old\",temp (C),list price,units\n")
	for i := range 96 {
		fmt.Fprintf(&b, "S%d,2024-%02d,%d.25,%d.5,%d.75,%d\n", i/12, 1+i%12, i*7%31, i*5%29, i*3%23, 10+i*i%17)
	}
	write(t, "t.csv", b.String())
	r := must(t, "fit", "t.csv", "-q", "--rank", "1", "--sweeps", "1", "--forecast", "2")
	proposed := `'price_old="price, old",temp_C="temp (C)",list price'`
	if want := `Columns not used: "price, old", "temp (C)", list price. If they are known before the target, they may improve predictions: compare a fit with --covariate ` + proposed + ".\n"; !strings.HasSuffix(r.stdout, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", r.stdout, want)
	}
	r = must(t, "fit", "t.csv", "-q", "--rank", "1", "--sweeps", "1", "--covariate", strings.Trim(proposed, "'"))
	if !strings.Contains(r.stdout, "Covariates: price_old:") || strings.Contains(r.stdout, "not used") {
		t.Errorf("got\n%s", r.stdout)
	}
}

// Modes that are named leave other columns out; the last line says so.
func TestUnusedColumnsBesideNamedModes(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,day,city,price,noted,units\n")
	for i := range 96 {
		fmt.Fprintf(&b, "S%d,2024-%02d,2024-%02d-03,C%d,%d.25,2024-05-%02d,%d\n", i/12, 1+i%12, 1+i%12, i/24, i*7%31, 1+i*11%28, 10+i*i%17)
	}
	write(t, "t.csv", b.String())
	fit := []string{"fit", "t.csv", "-q", "--target", "units", "--modes", "shop,month", "--sweeps", "1"}
	if r := must(t, append(fit, "--rank", "1")...); !strings.HasSuffix(r.stdout, "\nColumns not used: price. If they are known before the target, they may improve predictions: compare a fit with --covariate price.\n") {
		t.Errorf("got\n%s", r.stdout)
	}
	for _, more := range [][]string{{"--covariate", "none"}, {"--covariate", "price"}, {"--term", "shop"}} {
		if r := must(t, append(fit, more...)...); strings.Contains(r.stdout, "not used") {
			t.Errorf("%q: got\n%s", more, r.stdout)
		}
	}
}

func TestUnusedRowsAreCounted(t *testing.T) {
	inEmptyFolder(t)
	write(t, "t.csv", goodTable)
	write(t, "parts.csv", "part\n"+strings.Repeat("train\n", 7)+"unused\nunused\ntest\n")
	r := must(t, "fit", "t.csv", "--target", "units", "--modes", "store,item,time", "--split", "file:parts.csv", "--rank", "1", "--sweeps", "1")
	if !strings.Contains(r.stdout, "2 rows marked unused by the split\n") {
		t.Errorf("%s", r.stdout)
	}
	var about struct {
		Training struct{ Rows map[string]int }
	}
	if err := json.Unmarshal([]byte(must(t, "inspect", "model.kft", "--json").stdout), &about); err != nil || about.Training.Rows["zero_weight"] != 0 || about.Training.Rows["rows"] != 10 {
		t.Errorf("%v, %v", about, err)
	}
	if _, ok := about.Training.Rows["zero_weight"]; !ok {
		t.Errorf("keys of rows: %v", about.Training.Rows)
	}
}

// Without a validation set the output does not mention one, and a comparison on training
// rows has a caveat.
func TestWithoutValidationSet(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	r := must(t, fitSales("--rank", "3", "--ridge", "uniform", "--lambda", "0.01", "--split", "random:100/0/0", "--sweeps", "200")...)
	if strings.Contains(r.stdout, "on the validation set") || !strings.Contains(r.stdout, "no further gain on the training set") {
		t.Errorf("%s", r.stdout)
	}
	if strings.Contains(r.stdout, "beats the best formula") && !strings.Contains(r.stdout, "trained on these rows") {
		t.Errorf("%s", r.stdout)
	}
}

// With one mode there is one mean.
func TestOneMode(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	r := must(t, "fit", "sales.csv", "--target", "units", "--modes", "item", "--duplicates", "mean", "--term", "item", "--sweeps", "2")
	if n := strings.Count(r.stdout, "\nmean by item "); n != 1 {
		t.Errorf("the formula is listed %d times, want 1:\n%s", n, r.stdout)
	}
}

// A note names flags that have no effect.
func TestFlagsOfAnotherSolver(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--learning-rate", "0.1", "--sweeps", "1"}, "note: --learning-rate applies to the solver adam and has no effect with als\n"},
		{[]string{"--solver", "adam", "--epochs", "1", "--cg-steps", "3"}, "note: --cg-steps applies to the solver als and has no effect with adam\n"},
	} {
		r := must(t, fitSales(append(c.flags, "--rank", "1")...)...)
		if strings.Count(r.stderr, "note: ") != 1 || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: %s", c.flags, r.stderr)
		}
	}
}

// A target that exceeds the precision of float64 is a warning.
func TestWarnsAboutTargetPrecision(t *testing.T) {
	inEmptyFolder(t)
	var table strings.Builder
	table.WriteString("store,item,units\n")
	for k := range 40 {
		fmt.Fprintf(&table, "s%d,i%d,%d\n", k%4, k/4, 10_000_000_000_000_000+k*k)
	}
	write(t, "t.csv", table.String())
	r := must(t, "fit", "t.csv", "--target", "units", "--modes", "store,item", "--rank", "1", "--sweeps", "1", "--split", "random:80/20")
	if !strings.Contains(r.stdout, "warning: the target units has values up to") {
		t.Errorf("%s", r.stdout)
	}
}
