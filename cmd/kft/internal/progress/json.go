package progress

import (
	"encoding/json"
	"io"
	"time"

	"github.com/kernel-fried-tensor/kft"
)

// A step is one line of the JSON form.
type step struct {
	Type    string  `json:"type"` // progress
	Stage   string  `json:"stage,omitempty"`
	Text    string  `json:"text"`
	Sweep   float64 `json:"sweep"`  // done in this run, with the finished part of the current one
	Sweeps  int     `json:"sweeps"` // at most; 0 outside of training
	Trial   int     `json:"trial,omitempty"`
	Loss    float64 `json:"loss,omitempty"`
	ValidR2 float64 `json:"valid_r2,omitempty"`
}

// NewJSON returns a display for programs: one JSON object per line, for every stage and
// sweep, and up to ten per second for parts of a sweep.
func NewJSON(w io.Writer, files []string, budget time.Duration) Display {
	return &jsonLines{w: w, stages: stageNames(files), pace: pace{now: time.Now, budget: budget}}
}

type jsonLines struct {
	w      io.Writer
	stages map[string]string
	pace   pace
	last   time.Time
}

func (j *jsonLines) Event(e kft.Event) {
	s := step{Type: "progress", Stage: e.Stage}
	switch {
	case e.Note != "":
		s.Text = e.Note
	case e.Fit != nil:
		j.pace.step(e)
		now := j.pace.now()
		if e.Fit.Point == nil && now.Sub(j.last) < time.Second/10 {
			return
		}
		j.last = now
		s.Text, s.Sweep, s.Sweeps = j.pace.short(*e.Fit), j.pace.done, e.Fit.Sweeps
		if e.Fit.Searching {
			s.Trial = e.Fit.Trials + 1
		}
		if e.Fit.Point != nil {
			s.Loss = e.Fit.Point.Train
		}
		if e.ValidR2 != nil {
			s.ValidR2 = *e.ValidR2
		}
	default:
		j.pace.start()
		s.Text = j.stages[e.Stage]
	}
	if text, err := json.Marshal(s); err == nil { // NaN has no form in JSON
		j.w.Write(append(text, '\n'))
	}
}

func (j *jsonLines) End() {}
