package experiment

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata")

// cell makes one with test measures, and the same less .01 in valid.
func cell(configuration string, split int, seconds float64, test map[string]string) Cell {
	c := Cell{Configuration: configuration, Split: split, Tool: "x 1.0", Usage: Usage{Seconds: seconds, CPU: 2 * seconds, PeakRSS: int64(100+split) << 20}, Test: map[string]json.RawMessage{}}
	for name, text := range test {
		c.Test[name] = json.RawMessage(text)
	}
	return c
}

// results has a reference, a peer without intervals, one with a failed cell and a
// missing one, and one split only.
func results() Results {
	failed := Cell{Configuration: "deep_net", Split: 2, Problem: "killed:\nout of memory"}
	return Results{
		Plan: Plan{Configurations: []string{"ours", "never-run"}, Splits: 3, Against: "ours", Measures: []string{"r2", "mae", "xi"}},
		Cells: []Cell{
			cell("ours", 1, 10, map[string]string{"r2": "0.70", "mae": "5.0", "xi": "0.010"}),
			cell("ours", 2, 12, map[string]string{"r2": "0.72", "mae": "5.2", "xi": "0.020"}),
			cell("ours", 3, 14, map[string]string{"r2": "0.74", "mae": "5.4", "xi": "0.030"}),
			cell("lightgbm", 1, 20, map[string]string{"r2": "0.69", "mae": "5.5", "xi": "null"}),
			cell("lightgbm", 2, 21, map[string]string{"r2": "0.70", "mae": "5.8"}),
			cell("lightgbm", 3, 22, map[string]string{"r2": "0.75", "mae": "5.8", "pinball_by_level": "[1]"}),
			cell("deep_net", 1, 99, map[string]string{"r2": "0.60", "mae": "4.5", "xi": "0.5"}),
			failed,
		},
		Tuning: []Tuning{{Configuration: "ours", Usage: Usage{Seconds: 64, CPU: 120, PeakRSS: 512 << 20}}},
	}
}

// The figures were computed by hand: lightgbm less ours in R2 is -.01, -.02, +.01,
// in MAE .5, .6, .4.
func TestSummaryFigures(t *testing.T) {
	s, err := Summarize(results(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s is %v, not %v", what, got, want)
		}
	}
	ours, net := s.Rows[0], s.Rows[2]
	near("mean R2", ours.Values[0].Mean, 0.72)
	near("its sd", ours.Values[0].SD, 0.02)
	near("seconds of a fit", ours.Fit, 12)
	near("seconds in all", ours.Total, 10+12+14+64)
	near("CPU seconds", ours.CPU, 20+24+28+120)
	near("memory", ours.Memory, 512)
	near("sd of one", net.Values[0].SD, math.NaN())
	if net.Configuration != "deep_net" || net.N != 1 || s.Rows[1].Configuration != "never-run" || s.Rows[1].N != 0 {
		t.Errorf("rows are %+v", s.Rows)
	}
	pairs := map[string]Pair{}
	for _, p := range s.Pairs {
		pairs[p.Configuration+" "+p.Measure] = p
	}
	r2, mae := pairs["lightgbm r2"], pairs["lightgbm mae"]
	near("difference in R2", r2.Difference.Mean, -0.02/3)
	near("its SE", r2.Difference.SE(), math.Sqrt((1.0/9+16.0/9+25.0/9)/2/3)*0.01)
	near("in SE", r2.T(), -0.75592894601845)
	near("difference in MAE", mae.Difference.Mean, 0.5)
	near("in SE", mae.T(), 0.5/(0.1/math.Sqrt(3)))
	if r2.Verdict != "" || mae.Verdict != "worse" {
		t.Errorf("verdicts %q and %q, not none and worse", r2.Verdict, mae.Verdict)
	}
	if _, there := pairs["lightgbm xi"]; there {
		t.Error("a measure that lightgbm does not have is compared")
	}
	if p := pairs["deep_net r2"]; p.Difference.N != 1 || p.Verdict != "" || !math.IsNaN(p.T()) {
		t.Errorf("one split is judged: %+v", p)
	}
}

// A program that does not tell its time is not the fastest.
func TestTimeNotTold(t *testing.T) {
	r := results()
	for n := 1; n <= 3; n++ {
		c := cell("silent", n, 0, map[string]string{"r2": "0.5"})
		c.PeakRSS = 0
		r.Cells = append(r.Cells, c)
	}
	s, err := Summarize(r, []string{"seconds", "cpu_seconds", "memory"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Pairs {
		if p.Configuration == "silent" {
			t.Errorf("compared: %+v", p)
		}
	}
	if row := s.Rows[len(s.Rows)-1]; row.N != 3 || !math.IsNaN(row.Fit) || !math.IsNaN(row.Total) || !math.IsNaN(row.CPU) || !math.IsNaN(row.Memory) {
		t.Errorf("%+v", row)
	}
}

// What is better has the sign of each measure.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		by   float64
		want string
	}{
		{"r2", +1, "better"}, {"r2", -1, "worse"}, {"xi", +1, "worse"}, {"xi", -1, "better"}, {"seconds", -1, "better"},
		{"valid.mae", -1, "better"}, {"coverage90", +1, "more"}, {"coverage90", -1, "less"},
	} {
		m, err := measureOf(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p := Pair{Difference: Estimate{N: 4, Mean: c.by, SD: 0.99}, measure: m} // SE .495
		if got := p.verdict(); got != c.want {
			t.Errorf("%s by %v is %q, not %q", c.name, c.by, got, c.want)
		}
		p.Difference.SD = 1.01 // SE .505
		if got := p.verdict(); got != "" {
			t.Errorf("%s by less than 2 SE is %q", c.name, got)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, format := range Formats() {
		s, err := Summarize(results(), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := s.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "table."+format)
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s (go test -update rewrites it) is\n%s\nnot\n%s", file, b.String(), want)
		}
	}
}

func TestSummarizeRefuses(t *testing.T) {
	for _, c := range []struct{ measure, against, want string }{
		{"r3", "", `did you mean "r2"`}, {"", "our", `did you mean "ours"`},
	} {
		var names []string
		if c.measure != "" {
			names = []string{c.measure}
		}
		if _, err := Summarize(results(), names, c.against); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("measure %q against %q: %v", c.measure, c.against, err)
		}
	}
}

// A folder is read as it was written, also where other programs wrote it; what is
// damaged is named.
func TestRead(t *testing.T) {
	folder := Folder(t.TempDir())
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "no results here") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Mkdir(filepath.Join(string(folder), "cells"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), "no cells yet") {
		t.Errorf("a folder without cells: %v", err)
	}
	for _, c := range results().Cells {
		if err := writeJSON(folder.cellFile(c.Configuration, c.Split), c); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(folder)
	if err != nil || len(r.Cells) != len(results().Cells) {
		t.Fatalf("%d cells, %v", len(r.Cells), err)
	}
	s, err := Summarize(r, []string{"r2"}, "lightgbm")
	if err != nil || len(s.Rows) != 3 || s.Rows[0].Configuration != "deep_net" || len(s.Pairs) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	other := filepath.Join(string(folder), "cells", "other.json")
	for text, want := range map[string]string{
		`{"configuration":"ours","split":1}`:                       "two files",
		`{"configuration":"ours"}`:                                 "no split",
		`{"test":{"r2":NaN}}`:                                      other,
		`{"configuration":"o` + strconv.Quote("") + `"split":"1"}`: other,
	} {
		if err := os.WriteFile(other, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
