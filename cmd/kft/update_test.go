package main

import (
	"strings"
	"testing"
)

// The table of the fit as new rows is a warning, because its training rows are then in the model twice.
func TestUpdateWithTheFittedTable(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, "fit", "sales.csv", "-q", "--rank", "1", "--sweeps", "2", "--inference", "mean-field")
	const warning = "warning: sales.csv is the table of the fit: "
	if r := must(t, "update", "model.kft", "sales.csv", "--late", "-o", "twice.kft"); !strings.Contains(r.stdout, warning) {
		t.Errorf("got\n%s\nwant\n%s", r.stdout, warning)
	}
	lines := strings.SplitAfter(read(t, "sales.csv"), "\n")
	write(t, "new.csv", strings.Join(lines[:20], ""))
	if r := must(t, "update", "model.kft", "new.csv", "--late", "-o", "new.kft"); strings.Contains(r.stdout, "table of the fit") {
		t.Errorf("got\n%s", r.stdout)
	}
}

// A calibration on the table of the fit does not replace the model.
func TestCalibrationKeepsTheModel(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, "fit", "sales.csv", "-q", "--rank", "1", "--sweeps", "2", "--inference", "mean-field")
	before := read(t, "model.kft")
	for _, args := range [][]string{{"calibrate", "model.kft", "sales.csv"}, {"calibrate", "model.kft", "sales.csv", "-o", "model.kft"}} {
		if r := call(t, args...); r.code != 2 || !strings.Contains(r.stderr, "sales.csv is the table of the fit") || read(t, "model.kft") != before {
			t.Errorf("%v: got exit code %d, %s", args, r.code, r.stderr)
		}
	}
	must(t, "calibrate", "model.kft", "sales.csv", "--part", "test")
	if read(t, "model.kft") == before {
		t.Error("the model was not replaced")
	}
}
