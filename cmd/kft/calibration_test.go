package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The JSON of an evaluation has its measures at the top level, and coverage by id.
func TestEvaluateCalibration(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", mediumSales)
	must(t, fitSales("--rank", "2", "--sweeps", "2", "--inference", "mean-field", "--conformal", "split")...)
	var fields struct {
		N                                                          int
		R2, Xi, Eta, CRPS, Pinball, Width90, Coverage90, Winkler90 *float64
		XiByLevel                                                  []struct{ Level, Share float64 } `json:"xi_by_level"`
		CoverageByMode                                             []struct {
			Mode     string
			Entities int
			Gap      *float64
			Table    []struct {
				ID         string
				N          int
				Coverage90 float64
			}
		} `json:"coverage_by_mode"`
		CoverageBySeen []struct {
			Name string
			N    int
		} `json:"coverage_by_seen"`
	}
	text := must(t, "evaluate", "model.kft", "sales.csv", "--json").stdout
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		t.Fatal(err)
	}
	for i, v := range []*float64{fields.R2, fields.Xi, fields.Eta, fields.CRPS, fields.Pinball, fields.Width90, fields.Coverage90, fields.Winkler90} {
		if v == nil {
			t.Errorf("measure %d is missing", i)
		}
	}
	if len(fields.XiByLevel) != 5 || fields.XiByLevel[0].Level != 0.9 || fields.XiByLevel[0].Share != *fields.Coverage90 {
		t.Errorf("xi_by_level %+v", fields.XiByLevel)
	}
	var modes, months []string
	rows := 0
	for _, m := range fields.CoverageByMode {
		modes = append(modes, m.Mode)
		if m.Mode == "time" {
			for _, e := range m.Table {
				months = append(months, e.ID)
				rows += e.N
			}
			if m.Entities != len(m.Table) || m.Gap == nil {
				t.Errorf("%d of %d months", len(m.Table), m.Entities)
			}
		}
	}
	slices.Sort(months)
	if strings.Join(modes, " ") != "store item time" || rows != fields.N || len(months) != 12 || months[0] != "2023-1" {
		t.Errorf("modes %v, months %v of %d rows", modes, months, rows)
	}
	seen := 0
	for _, s := range fields.CoverageBySeen {
		seen += s.N
	}
	if seen != fields.N {
		t.Errorf("%d of %d rows are cold, few or warm", seen, fields.N)
	}
}

// A model is recalibrated in place, completely or not at all. New ids can have side
// information.
func TestCalibrateCommand(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "stores.csv", storesTable)
	write(t, "new_stores.csv", newStoresTable)
	must(t, fitSales("--rank", "2", "--sweeps", "2", "--inference", "mean-field", "--side", "store=stores.csv", "--conformal", "none")...)
	before := read(t, "model.kft")
	write(t, "few.csv", "store,item,year,month,units\nS001,A0001,2023,1,3\n")
	refused(t, exitFailed, []string{"few.csv: 1 calibration row", "needs 19 or more"}, "calibrate", "model.kft", "few.csv")
	if read(t, "model.kft") != before {
		t.Error("a failed calibration changed the model")
	}
	fresh := strings.Split(strings.TrimSpace(newStoresTable), "\n")[1]
	fresh = fresh[:strings.Index(fresh, ",")]
	var rows strings.Builder
	rows.WriteString("store,item,year,month,units\n")
	for i := range 30 {
		store := "S001"
		if i%3 == 0 {
			store = fresh
		}
		rows.WriteString(store + ",A0001,2023," + string(rune('1'+i%8)) + "," + string(rune('1'+i%9)) + "\n")
	}
	write(t, "later.csv", rows.String())
	r := must(t, "calibrate", "model.kft", "later.csv", "--side", "store=new_stores.csv")
	if !strings.Contains(r.stdout, "Wrote model.kft: conformal correction split from 30 rows") || !strings.Contains(r.stdout, "10 rows with an unseen store, predicted from its side information") {
		t.Errorf("got %q", r.stdout)
	}
	if r := must(t, "inspect", "model.kft"); !strings.Contains(r.stdout, "conformal correction split from 30 rows") || !strings.Contains(r.stdout, "conformal: split") {
		t.Errorf("inspect: got\n%s", r.stdout)
	}
	a := must(t, "predict", "model.kft", "later.csv", "--side", "store=new_stores.csv", "--samples", "2").stdout
	if must(t, "predict", "model.kft", "later.csv", "--samples", "2", "--threads", "1").stdout != a {
		t.Error("an id that calibrate knew from --side is predicted differently than with --side")
	}
}

// A coverage map is written for each level, as SVG.
func TestPlotCalibration(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "2", "--sweeps", "2")...)
	must(t, "plot", "calibration", "model.kft", "sales.csv", "--by", "item", "--part", "test", "-o", "map", "--quiet")
	for _, level := range []string{"90", "70", "50", "30", "10"} {
		if !strings.Contains(read(t, "map-"+level+".svg"), level+" %") {
			t.Errorf("level %s: no picture", level)
		}
	}
	other := read(t, "map-90.svg")
	must(t, "plot", "calibration", "model.kft", "sales.csv", "--by", "item", "-o", "map", "--quiet")
	if read(t, "map-90.svg") == other {
		t.Error("the picture of all rows equals that of the test rows")
	}
	before := listing(t)
	if err := os.Remove("map-90.svg"); err != nil {
		t.Fatal(err)
	}
	write(t, "new.csv", "store,item,year,month,units\nS001,B1,2023,1,3\n")
	if r := call(t, "plot", "calibration", "model.kft", "new.csv", "--by", "item", "-o", "none"); r.code != exitFailed || !strings.Contains(r.stderr, "nothing to draw") {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
	if after := listing(t); len(after) != len(before) { // one file was removed, and the new table was added
		t.Errorf("files %v, before %v", after, before)
	}
}
