package tune

import "time"

// A State is the status of a trial.
type State string

// The states of a trial. Done, Pruned and Failed are final.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Pruned  State = "pruned" // stopped at a rung
	Failed  State = "failed"
)

// A Trial is one evaluation of the objective.
type Trial struct {
	Number  int       `json:"number"` // starts at 0
	State   State     `json:"state"`
	Attempt int       `json:"attempt"` // how many times it was started
	Worker  string    `json:"worker,omitempty"`
	Values  Values    `json:"values,omitempty"`
	Rungs   []Rung    `json:"rungs,omitempty"` // scores of this attempt below the full budget
	Score   *float64  `json:"score,omitempty"` // final score, or for a pruned trial the score at its last rung
	Problem string    `json:"problem,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	Budget float64 `json:"-"` // fraction of the full budget available to the objective in this call; not stored
}

// A Rung is the score of a trial at a fraction of the budget.
type Rung struct {
	Budget  float64 `json:"budget"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`
}

// Finished reports whether the state of the trial is final.
func (t Trial) Finished() bool {
	return t.State == Done || t.State == Pruned || t.State == Failed
}
