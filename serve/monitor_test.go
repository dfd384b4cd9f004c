package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// outcomesFor draws values of random cells from their predictions, with a factor.
func outcomesFor(t *testing.T, s *Server, n int, factor float64, seed uint64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	cells := make([]kft.Cell, n)
	for i := range cells {
		cells[i] = kft.Cell{"store": fmt.Sprint("s", rng.IntN(20)), "item": fmt.Sprint("i", rng.IntN(30)), "time": fmt.Sprintf("2015-%d", 1+rng.IntN(6))}
	}
	predictions, err := s.models[0].current.Load().Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	type item struct {
		Cell  kft.Cell `json:"cell"`
		Value float64  `json:"value"`
	}
	items := make([]item, n)
	for i := range items {
		items[i] = item{cells[i], factor * max(predictions[i].Distribution().Draw(rng), 0)}
	}
	text, err := json.Marshal(map[string]any{"outcomes": items})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestImpossibleOutcomes checks that values that the target cannot have do not reach the
// monitor, and that a group of it must be a mode.
func TestImpossibleOutcomes(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for _, value := range []string{"-1", "1e300"} {
		r := ask(t, s, "POST", "/outcomes", `{"outcomes":[{"cell":{"store":"s1","item":"i1","time":"2015-1"},"value":1},{"cell":{"store":"s1","item":"i1","time":"2015-1"},"value":`+value+`}]}`)
		if text := r.Body.String(); r.Code != 400 || !strings.Contains(text, "invalid_value") || !strings.Contains(text, "outcomes[1].value") {
			t.Errorf("%s: got %d %s", value, r.Code, text)
		}
	}
	if got := answer[struct{ Models []monitorReport }](t, s, "GET", "/monitor", ""); len(got.Models[0].Groups) != 0 {
		t.Errorf("refused outcomes are counted: %+v", got.Models[0].Groups)
	}
	file := ModelFile{Name: "sales", Path: writeModel(t, 0)}
	if _, err := New(Options{Models: []ModelFile{file}, Monitor: MonitorOptions{Groups: []string{"stoer"}}}); err == nil || !strings.Contains(err.Error(), `did you mean "store"?`) {
		t.Errorf("a group that is not a mode: got error %v", err)
	}
	file.History = []string{"nothing.csv"}
	if _, err := New(Options{Models: []ModelFile{file}}); err == nil || !strings.Contains(err.Error(), "nothing.csv") {
		t.Errorf("a history that is not there: got error %v", err)
	}
}

// TestMonitor checks that outcomes of the model's own distributions raise no alarm, that
// others do, and that the alarm ends when outcomes are as predicted again.
func TestMonitor(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := newServer(t, func(o *Options) {
		o.Monitor = MonitorOptions{Window: 400, Groups: []string{"store"}}
		o.Log = testLog(&log)
	})
	type state struct {
		Accepted int
		Monitor  monitorReport
	}
	for round, tc := range []struct {
		factor float64
		alarm  string
	}{{1, ""}, {3, "coverage+bias"}, {1, ""}} {
		got := answer[state](t, s, "POST", "/outcomes", outcomesFor(t, s, 400, tc.factor, uint64(round)))
		if got.Accepted != 400 {
			t.Fatalf("accepted %d", got.Accepted)
		}
		whole := got.Monitor.Groups[0]
		if whole.Group != "all" || whole.Window != 400 || whole.Total != int64(400*(round+1)) || whole.Alarm != tc.alarm {
			t.Errorf("factor %g: %+v, want the alarm %q", tc.factor, whole, tc.alarm)
		}
		if tc.factor == 1 && (whole.Coverage < 0.85 || whole.Coverage > 0.95) {
			t.Errorf("coverage %g", whole.Coverage)
		}
	}
	report := answer[struct{ Models []monitorReport }](t, s, "GET", "/monitor", "")
	if n := len(report.Models[0].Groups); n != 22 { // all, known ids, 20 stores
		t.Errorf("%d groups", n)
	}
	text := ask(t, s, "GET", "/metrics", "").Body.String()
	for _, want := range []string{`kft_coverage{model="sales",group="all"} 0.`, `kft_coverage_alarm{model="sales",group="all"} 0`, `kft_outcomes_total{model="sales",group="all"} 1200`, `kft_bias_ratio{model="sales",group="store=s3"}`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics do not contain %q", want)
		}
	}
	if n := strings.Count(log.String(), `msg=alarm model=sales group=all`); n != 1 {
		t.Errorf("%d alarms of the whole in the log:\n%s", n, log.String())
	}
	if !strings.Contains(log.String(), `msg="alarm ended" model=sales group=all`) {
		t.Errorf("the log does not say that the alarm ended:\n%s", log.String())
	}
	replace(t, s.models[0].file.Path, fixture(t, 1))
	s.Reload()
	if after := answer[struct{ Models []monitorReport }](t, s, "GET", "/monitor", ""); len(after.Models[0].Groups) != 0 {
		t.Errorf("a new model keeps the outcomes of the one before: %+v", after.Models[0].Groups)
	}
}

// TestMetricsFormat checks the syntax of each line.
func TestMetricsFormat(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(o *Options) { o.Monitor.Groups = []string{"store"} })
	ask(t, s, "POST", "/predict", oneCell)
	ask(t, s, "POST", "/predict", "{")
	ask(t, s, "POST", "/outcomes", `{"outcomes":[{"cell":{"store":"a\"b\\c\nd","item":"i1","time":"2015-1"},"value":1}]}`)
	text := ask(t, s, "GET", "/metrics", "").Body.String()
	for _, want := range []string{`kft_requests_total{path="/predict",code="200"} 1`, `kft_requests_total{path="/predict",code="400"} 1`, `kft_request_seconds_bucket{path="/predict",le="+Inf"} 2`,
		`kft_cells_total{model="sales"} 1`, `group="store=a\"b\\c\nd"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics do not contain %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "# ") && strings.Count(line, "\n") != 1 || strings.TrimSpace(line) == "" {
			t.Errorf("line %q", line)
		}
	}
}
