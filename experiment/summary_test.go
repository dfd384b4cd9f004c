package experiment

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata")

// testCell returns a cell with measures on the test set.
func testCell(configuration string, split int, seconds float64, test map[string]string) Cell {
	c := Cell{Configuration: configuration, Split: split, Tool: "x 1.0", Usage: Usage{Seconds: seconds, CPU: 2 * seconds, PeakRSS: int64(100+split) << 20}, Test: map[string]json.RawMessage{}}
	for name, text := range test {
		c.Test[name] = json.RawMessage(text)
	}
	return c
}

// testResults returns a reference with all splits, a peer without intervals, a
// configuration with one result, a failed cell and a missing one, and one without cells.
func testResults() Results {
	failed := Cell{Configuration: "deep_net", Split: 2, Problem: "killed:\nout of memory"}
	return Results{
		Plan: Plan{Configurations: []string{"ours", "never-run"}, Splits: 3, Against: "ours", Measures: []string{"r2", "mae", "xi"}},
		Cells: []Cell{
			testCell("ours", 1, 10, map[string]string{"r2": "0.70", "mae": "5.0", "xi": "0.010"}),
			testCell("ours", 2, 12, map[string]string{"r2": "0.72", "mae": "5.2", "xi": "0.020"}),
			testCell("ours", 3, 14, map[string]string{"r2": "0.74", "mae": "5.4", "xi": "0.030"}),
			testCell("lightgbm", 1, 20, map[string]string{"r2": "0.69", "mae": "5.5", "xi": "null"}),
			testCell("lightgbm", 2, 21, map[string]string{"r2": "0.70", "mae": "5.8"}),
			testCell("lightgbm", 3, 22, map[string]string{"r2": "0.75", "mae": "5.8", "pinball_by_level": "[1]"}),
			testCell("deep_net", 1, 99, map[string]string{"r2": "0.60", "mae": "4.5", "xi": "0.5"}),
			failed,
		},
		Tuning: []Tuning{{Configuration: "ours", Usage: Usage{Seconds: 64, CPU: 120, PeakRSS: 512 << 20}}},
	}
}

// The numbers were computed by hand: lightgbm minus ours is -.01, -.02, +.01 in R2 and
// .5, .6, .4 in MAE.
func TestSummarize(t *testing.T) {
	t.Parallel()
	s, err := Summarize(testResults(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	ours, net := s.Rows[0], s.Rows[2]
	near("mean R2", ours.Values[0].Mean, 0.72)
	near("SD of R2", ours.Values[0].SD, 0.02)
	near("seconds per fit", ours.FitSeconds, 12)
	near("seconds in all", ours.TotalSeconds, 10+12+14+64)
	near("CPU seconds", ours.CPUSeconds, 20+24+28+120)
	near("memory", ours.MemoryMiB, 512)
	near("SD of one split", net.Values[0].SD, math.NaN())
	if net.Configuration != "deep_net" || net.N != 1 || s.Rows[1].Configuration != "never-run" || s.Rows[1].N != 0 {
		t.Errorf("got rows %+v", s.Rows)
	}
	pairs := map[string]Pair{}
	for _, p := range s.Pairs {
		pairs[p.Configuration+" "+p.Measure] = p
	}
	r2, mae := pairs["lightgbm r2"], pairs["lightgbm mae"]
	near("difference in R2", r2.Difference.Mean, -0.02/3)
	near("SE of the difference in R2", r2.Difference.SE(), math.Sqrt((1.0/9+16.0/9+25.0/9)/2/3)*0.01)
	near("difference in R2 in units of SE", r2.T(), -0.75592894601845)
	near("difference in MAE", mae.Difference.Mean, 0.5)
	near("difference in MAE in units of SE", mae.T(), 0.5/(0.1/math.Sqrt(3)))
	if r2.Verdict != "" || mae.Verdict != "worse" {
		t.Errorf("got verdicts %q and %q, want none and worse", r2.Verdict, mae.Verdict)
	}
	if p, found := pairs["lightgbm xi"]; found {
		t.Errorf("got a comparison by a measure that lightgbm does not have: %+v", p)
	}
	if p := pairs["deep_net r2"]; p.Difference.N != 1 || p.Verdict != "" || !math.IsNaN(p.T()) {
		t.Errorf("one split: got %+v, want no verdict", p)
	}
}

// Times of 0 are unknown, and are neither shown nor compared.
func TestUnknownTime(t *testing.T) {
	t.Parallel()
	r := testResults()
	for n := 1; n <= 3; n++ {
		c := testCell("silent", n, 0, map[string]string{"r2": "0.5"})
		c.PeakRSS = 0
		r.Cells = append(r.Cells, c)
	}
	s, err := Summarize(r, []string{"seconds", "cpu_seconds", "memory"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Pairs {
		if p.Configuration == "silent" {
			t.Errorf("got a comparison %+v, want none", p)
		}
	}
	if row := s.Rows[len(s.Rows)-1]; row.N != 3 || !math.IsNaN(row.FitSeconds) || !math.IsNaN(row.TotalSeconds) || !math.IsNaN(row.CPUSeconds) || !math.IsNaN(row.MemoryMiB) {
		t.Errorf("got row %+v, want 3 cells with unknown times and memory", row)
	}
}

// A verdict depends on the direction of the measure.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		difference float64
		want       string
	}{
		{"r2", +1, "better"}, {"r2", -1, "worse"}, {"xi", +1, "worse"}, {"xi", -1, "better"}, {"seconds", -1, "better"},
		{"valid.mae", -1, "better"}, {"coverage90", +1, "more"}, {"coverage90", -1, "less"},
	} {
		m, err := measureOf(c.name)
		if err != nil {
			t.Fatal(err)
		}
		p := Pair{Difference: Estimate{N: 4, Mean: c.difference, SD: 0.99}, measure: m} // SE .495
		if got := p.verdict(); got != c.want {
			t.Errorf("%s, difference %v: got verdict %q, want %q", c.name, c.difference, got, c.want)
		}
		p.Difference.SD = 1.01 // SE .505
		if got := p.verdict(); got != "" {
			t.Errorf("%s, difference below 2 SE: got verdict %q, want none", c.name, got)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	for _, format := range Formats() {
		s, err := Summarize(testResults(), nil, "")
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
			t.Errorf("%s (go test -update rewrites it): got\n%s\nwant\n%s", file, b.String(), want)
		}
	}
}

func TestSummarizeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ measure, against, want string }{
		{"r3", "", `did you mean "r2"`}, {"", "our", `did you mean "ours"`},
	} {
		var names []string
		if c.measure != "" {
			names = []string{c.measure}
		}
		if _, err := Summarize(testResults(), names, c.against); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("measure %q against %q: got error %v, want %s", c.measure, c.against, err, c.want)
		}
	}
}
