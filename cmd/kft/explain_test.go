package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

func TestExplain(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "items.csv", "item,price\nA0001,1\nA0002,2\nA0003,5\nA0004,3\nA0005,4\nA0006,6\nA0007,9\n")
	must(t, fitSales("--rank", "2", "--sweeps", "2", "--side", "item=items.csv", "--variant", "additive")...)
	m, err := kft.Load("model.kft")
	if err != nil {
		t.Fatal(err)
	}
	cell := "store=" + m.IDs(0)[0] + ",item=A0004,time=" + m.IDs(2)[0]
	text := must(t, "explain", "model.kft", cell, "--what-if", "item.price=2.5", "-o", "why.svg").stdout
	for _, want := range []string{cell + ": ", "average cell", "item A0004, own weights", "With item.price=2.5 (now 3): ", "nearest by side information"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(read(t, "why.svg"), "mean of the distribution") {
		t.Error("the picture has no steps")
	}
	var e kft.Explanation
	if err := json.Unmarshal([]byte(must(t, "explain", "model.kft", cell, "--json").stdout), &e); err != nil || e.Level == 0 || len(e.Terms) == 0 {
		t.Errorf("got %+v, %v", e, err)
	}
	if whole := must(t, "explain", "model.kft", "--data", "sales.csv").stdout; !strings.Contains(whole, "item.price") || !strings.Contains(whole, "on the validation set") {
		t.Errorf("got\n%s", whole)
	}
	for want, args := range map[string][]string{
		"--what-if requires a cell":       {"explain", "model.kft", "--what-if", "item.price=1"},
		"has no column \"prise\"":         {"explain", "model.kft", cell, "--what-if", "item.prise=1"},
		"use .svg":                        {"explain", "model.kft", cell, "-o", "why.png"},
		"cell: cell 1: no id for mode":    {"explain", "model.kft", "item=A0004"},
		"is not a cell; write it as":      {"explain", "model.kft", "i2"},
		"--series: \"i2\" is not a cell;": {"report", "model.kft", "--series", "i2"},
		"item.price is changed twice":     {"explain", "model.kft", cell, "--what-if", "item.price=1", "--what-if", "item.price=2"},
	} {
		if r := call(t, args...); r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: got code %d and %q, want %d and %q", args, r.code, r.stderr, exitUsage, want)
		}
	}
}

func TestReport(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "2", "--sweeps", "2")...)
	if out := must(t, "report", "model.kft").stdout; out != "Wrote report.html\n" {
		t.Errorf("got %q", out)
	}
	if page := read(t, "report.html"); !strings.Contains(page, "Residuals by time") || !strings.Contains(page, "model.kft") {
		t.Error("the report has no residuals: the table of the model was not read")
	}
	before := read(t, "sales.csv")
	if r := call(t, "report", "model.kft", "--series", "item=none"); !strings.HasPrefix(r.stderr, "kft: cell 1: no id for mode") {
		t.Errorf("a series without a store: got %q", r.stderr)
	}
	if r := call(t, "report", "model.kft", "-o", "sales.csv"); r.code != exitUsage {
		t.Errorf("a report over the table: got code %d and %q", r.code, r.stderr)
	}
	if read(t, "sales.csv") != before {
		t.Error("the report replaced the table of the fit")
	}
	must(t, fitSales("--rank", "2", "--sweeps", "2", "--refit", "all", "-o", "refit.kft")...)
	must(t, "report", "refit.kft", "-o", "refit.html")
	if page := read(t, "refit.html"); strings.Contains(page, "was trained on these rows too") || !strings.Contains(page, "those of the test set before it was used for training") {
		t.Error("the report does not say that the test rows were measured before they were used")
	}
	must(t, fitSales("--rank", "2", "--sweeps", "2", "--refit", "all", "--absent", "zero", "-o", "zeros.kft")...)
	must(t, "report", "zeros.kft", "-o", "zeros.html")
	if page := read(t, "zeros.html"); strings.Count(page, "was trained on these rows too") < 2 || strings.Contains(page, `yes</span> <strong>Do they hold everywhere?`) {
		t.Error("the report takes rows that the model was trained on for new ones")
	}
	if err := os.Rename("sales.csv", "other.csv"); err != nil {
		t.Fatal(err)
	}
	must(t, "report", "model.kft", "-o", "without.html", "--quiet")
	if page := read(t, "without.html"); !strings.Contains(page, "sales.csv of the fit is not there") {
		t.Error("the report does not say that the table is missing")
	}
	must(t, "report", "model.kft", "other.csv", "-o", "with.html", "--quiet")
	write(t, "new.csv", strings.Join(strings.SplitAfterN(read(t, "other.csv"), "\n", 4)[:3], ""))
	if r := call(t, "report", "model.kft", "new.csv", "-o", "new.html"); r.code != exitFailed || !strings.Contains(r.stderr, "is not the table that the model was fitted to") {
		t.Errorf("another table: got code %d and %q", r.code, r.stderr)
	}
	if _, err := os.Stat("new.html"); err == nil {
		t.Error("a failed report left a file")
	}
}
