// Package progress displays the progress of a fit: bars on a terminal, else plain lines.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/solver"
)

// A Display shows the progress of a fit. It has no effect on the result.
type Display interface {
	// Event shows an event of the fit.
	Event(kft.Event)
	// End completes the display.
	End()
}

// New returns a display that writes bars if w is a terminal, else plain lines, and nothing
// if quiet. The files are those that the fit reads; the budget limits the time of training,
// 0 for no limit.
func New(w io.Writer, quiet bool, files []string, budget time.Duration) Display {
	stages := stageNames(files)
	switch {
	case quiet:
		return silent{}
	case IsTerminal(w):
		return newBars(w.(*os.File), stages, budget)
	}
	return &lines{w: w, stages: stages, pace: pace{now: time.Now, budget: budget}}
}

// IsTerminal reports whether w shows what is written to a person.
func IsTerminal(w io.Writer) bool {
	f, isFile := w.(*os.File)
	return isFile && cwriter.IsTerminal(int(f.Fd()))
}

type silent struct{}

func (silent) Event(kft.Event) {}
func (silent) End()            {}

// stageNames describes the stages of a fit.
func stageNames(files []string) map[string]string {
	table := textformat.Escape(strings.Join(files, ", "))
	if len(files) > 3 {
		table = fmt.Sprintf("%s and %d more tables", textformat.Escape(files[0]), len(files)-1)
	}
	if table == "-" {
		table = "standard input"
	}
	return map[string]string{
		"read":     "reading " + table,
		"plan":     "planning",
		"baseline": "evaluating formulas",
		"fit":      "training",
		"evaluate": "evaluating",
		"refit":    "training again on more rows",
	}
}

// lines prints one line per stage and per sweep.
type lines struct {
	w      io.Writer
	stages map[string]string
	pace   pace
}

func (l *lines) Event(e kft.Event) {
	switch {
	case e.Note != "":
		fmt.Fprintln(l.w, textformat.Escape(e.Note))
	case e.Fit != nil:
		l.pace.step(e)
		if e.Fit.Point != nil {
			fmt.Fprintln(l.w, l.pace.line(*e.Fit))
		}
	default:
		l.pace.start()
		fmt.Fprintln(l.w, l.stages[e.Stage])
	}
}

func (l *lines) End() {}

// pace measures the speed of a run. The trials of a penalty search and the final training
// are separate runs, each with its own timing.
type pace struct {
	now    func() time.Time
	budget time.Duration // of all training; 0 for no limit

	began   time.Time // start of the stage
	last    time.Time // time of the last event
	run     runID
	since   time.Time // start of this run
	base    float64   // sweeps done then
	done    float64   // sweeps done now
	scores  string    // loss and R2 of the last sweep that ended
	running bool
}

type runID struct {
	trials    int
	searching bool
}

// start begins a stage.
func (p *pace) start() {
	p.began = p.now()
	p.last = p.began
	p.running = false
}

// step records an event of training.
func (p *pace) step(event kft.Event) {
	e := event.Fit
	blocks := float64(max(1, e.Blocks))
	done := float64(e.Sweep) + float64(e.Block)/blocks
	if id := (runID{e.Trials, e.Searching}); !p.running || id != p.run {
		p.running, p.run, p.since, p.base, p.scores = true, id, p.last, done-1/blocks, ""
	}
	p.done = done
	p.last = p.now()
	if e.Point != nil {
		p.scores = fmt.Sprintf(", loss %.4f", e.Point.Train)
		if event.ValidR2 != nil {
			p.scores += fmt.Sprintf(", validation R2 %.4f", *event.ValidR2)
		}
	}
}

// rate returns the sweeps per second, 0 if unknown.
func (p *pace) rate() float64 {
	elapsed := p.last.Sub(p.since).Seconds()
	if elapsed <= 0 {
		return 0
	}
	return (p.done - p.base) / elapsed
}

// left returns the maximum remaining time of the run; training may stop earlier.
func (p *pace) left(e solver.Event) (time.Duration, bool) {
	rate := p.rate()
	if rate == 0 {
		return 0, false
	}
	left := time.Duration((float64(e.Sweeps) - p.done) / rate * float64(time.Second))
	if p.budget > 0 {
		left = min(left, p.budget-p.last.Sub(p.began))
	}
	return max(0, left), true
}

// line describes the state of a run.
func (p *pace) line(e solver.Event) string {
	if e.Searching {
		return fmt.Sprintf("trial %d, penalty %s: sweep %d", e.Trials+1, e.Ridge, e.Sweep+1) + p.scores + p.speed(e, "at most ")
	}
	return fmt.Sprintf("sweep %d of at most %d", e.Sweep+1, e.Sweeps) + p.scores + p.speed(e, "at most ")
}

// short describes the state of a run next to a bar.
func (p *pace) short(e solver.Event) string {
	trial := ""
	if e.Searching {
		trial = fmt.Sprintf("trial %d ", e.Trials+1)
	}
	return fmt.Sprintf("%ssweep %d", trial, e.Sweep+1) + p.scores + p.speed(e, "")
}

// speed returns the rate and, for the final training, the remaining time.
func (p *pace) speed(e solver.Event, most string) string {
	text := ""
	if rate := p.rate(); rate > 0 {
		text = fmt.Sprintf(", %s rows/s", rough(rate*float64(e.Observations)))
	}
	if left, known := p.left(e); known && !e.Searching {
		text += fmt.Sprintf(", %s%s left", most, textformat.Duration(left))
	}
	return text
}

// rough formats a number with two or three digits: 950, 12 k, 3.4 M.
func rough(v float64) string {
	switch {
	case v >= 1e7:
		return fmt.Sprintf("%.0f M", v/1e6)
	case v >= 1e6:
		return fmt.Sprintf("%.1f M", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0f k", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}
