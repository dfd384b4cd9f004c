package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/solver"
)

// clock returns a clock that advances one second per call.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time { now = now.Add(time.Second); return now }
}

// trainingEvents returns the events of a trial of one sweep and a run of another one, each
// of two blocks.
func trainingEvents() []kft.Event {
	event := func(trials int, searching bool, sweep, block int, point bool) kft.Event {
		e := solver.Event{Trials: trials, Searching: searching, Sweep: sweep, Sweeps: 4, Block: block, Blocks: 2,
			Ridge: solver.Ridge{Kind: solver.Uniform, Lambda: 2}, Observations: 3_000_000}
		event := kft.Event{Stage: "fit", Fit: &e}
		if point {
			e.Point = &solver.Point{Sweep: sweep, Train: 0.5, Valid: 0.3}
			r2 := 0.7
			event.ValidR2 = &r2
		}
		return event
	}
	return []kft.Event{
		{Stage: "read"}, {Stage: "fit"},
		event(0, true, 0, 1, false), event(0, true, 0, 2, false), event(0, true, 0, 2, true),
		{Stage: "fit", Note: "a note"},
		event(1, false, 1, 1, false), event(1, false, 1, 2, false), event(1, false, 1, 2, true),
		{Stage: "evaluate"},
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	l := New(&b, false, []string{"a.csv", "b.csv"}, 0).(*lines)
	l.pace.now = clock()
	for _, e := range trainingEvents() {
		l.Event(e)
	}
	l.End()
	want := `reading a.csv, b.csv
training
trial 1, penalty uniform 2: sweep 1, loss 0.5000, validation R2 0.7000, 1.0 M rows/s
a note
sweep 2 of at most 4, loss 0.5000, validation R2 0.7000, 1.0 M rows/s, at most 6 s left
evaluating
`
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", b.String(), want)
	}
}

// A budget limits the remaining time.
func TestTimeLeftWithinBudget(t *testing.T) {
	t.Parallel()
	p := pace{now: clock(), budget: 8 * time.Second}
	p.start()
	var last kft.Event
	for _, e := range trainingEvents()[6:8] {
		p.step(e)
		last = e
	}
	if left, known := p.left(*last.Fit); !known || left != 4*time.Second {
		t.Errorf("%v left, known: %v", left, known)
	}
	p.budget = 3 * time.Second
	if left, _ := p.left(*last.Fit); left != time.Second {
		t.Errorf("got %v left of a budget of 3 s, want 1s", left)
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	bars := newBars(&b, stageNames([]string{"a.csv"}), 0)
	for _, e := range trainingEvents() {
		bars.Event(e)
	}
	bars.End()
	for _, part := range []string{"reading a.csv", "sweep 2, loss 0.5000, validation R2 0.7000", "evaluating"} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in\n%s", part, b.String())
		}
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := New(&b, true, []string{"a.csv"}, 0)
	for _, e := range trainingEvents() {
		p.Event(e)
	}
	p.End()
	if b.Len() > 0 {
		t.Errorf("got %q, want no output", b.String())
	}
}

func TestRough(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{950: "950", 12_345: "12 k", 3.44e6: "3.4 M", 3e7: "30 M"} {
		if got := rough(v); got != want {
			t.Errorf("%v: got %q, want %q", v, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	j := NewJSON(&b, []string{"a.csv"}, 0).(*jsonLines)
	j.pace.now = clock()
	for _, e := range trainingEvents() {
		j.Event(e)
	}
	j.End()
	for _, line := range []string{
		`{"type":"progress","stage":"read","text":"reading a.csv","sweep":0,"sweeps":0}`,
		`{"type":"progress","stage":"fit","text":"a note","sweep":0,"sweeps":0}`,
		`{"type":"progress","stage":"evaluate","text":"evaluating","sweep":0,"sweeps":0}`,
		`"sweep":1,"sweeps":4,"trial":1,"loss":0.5,"valid_r2":0.7}`,
		`"sweep":2,"sweeps":4,"loss":0.5,"valid_r2":0.7}`,
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, b.String())
		}
	}
}
