package tune

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Operation codes of Optuna's journal and values of its StudyDirection and
// TrialState.
const (
	journalCreateStudy = 0
	journalStudyAttr   = 2
	journalCreateTrial = 4
	journalMinimize    = 1
	journalMaximize    = 2
	journalTimeLayout  = "2006-01-02T15:04:05.000000+00:00"
	journalStudyName   = "kft"
	journalStudyID     = 0
)

var journalStates = map[State]int{Running: 0, Done: 1, Pruned: 2, Failed: 3, Queued: 4}

// journalHeader holds the fields common to all lines.
type journalHeader struct {
	Operation int    `json:"op_code"`
	Worker    string `json:"worker_id"`
}

// journalTrial is a complete trial in one line, as Optuna writes trials that are
// added to a study.
type journalTrial struct {
	journalHeader
	Study         int                `json:"study_id"`
	Start         *string            `json:"datetime_start"`
	State         int                `json:"state"`
	Value         *float64           `json:"value"`
	Values        []float64          `json:"values"` // only for studies with several objectives
	Complete      *string            `json:"datetime_complete,omitempty"`
	Distributions map[string]string  `json:"distributions"`
	Params        map[string]float64 `json:"params"`
	UserAttrs     map[string]any     `json:"user_attrs"`
	SystemAttrs   map[string]any     `json:"system_attrs"`
	Intermediate  map[string]float64 `json:"intermediate_values"`
}

// WriteJournal writes the study as a file for Optuna's JournalFileBackend, with
// one JSON object per line: the study, its definition as user attributes, and the
// trials with unchanged numbers.
func (r Record) WriteJournal(w io.Writer) error {
	space, err := r.Space()
	if err != nil {
		return err
	}
	distributions := map[string]string{}
	for _, p := range space {
		if distributions[p.Name], err = p.distribution(); err != nil {
			return err
		}
	}
	out := json.NewEncoder(w)
	direction := journalMinimize
	if Goal(r.Fact("goal")) == Maximize {
		direction = journalMaximize
	}
	err = out.Encode(struct {
		journalHeader
		Name       string `json:"study_name"`
		Directions []int  `json:"directions"`
	}{journalHeader{journalCreateStudy, journalStudyName}, journalStudyName, []int{direction}})
	if err != nil {
		return err
	}
	for _, f := range r.Definition {
		err := out.Encode(struct {
			journalHeader
			Study int               `json:"study_id"`
			Attr  map[string]string `json:"user_attr"`
		}{journalHeader{journalStudyAttr, journalStudyName}, journalStudyID, map[string]string{f.Name: f.Text}})
		if err != nil {
			return err
		}
	}
	for _, t := range r.Trials {
		line, err := journalLine(t, space, distributions)
		if err != nil {
			return fmt.Errorf("trial %d: %w", t.Number+1, err)
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// journalLine converts a trial to Optuna's form. Optuna's steps are integers, so
// rungs are written by index; a user attribute of the study lists their budgets.
// Fields without an equivalent in Optuna become user attributes.
func journalLine(t Trial, space Space, distributions map[string]string) (journalTrial, error) {
	state, known := journalStates[t.State]
	if !known {
		return journalTrial{}, fmt.Errorf("state %s has no equivalent in Optuna", t.State)
	}
	line := journalTrial{
		journalHeader: journalHeader{journalCreateTrial, journalStudyName}, Study: journalStudyID, State: state, Value: t.Score,
		Distributions: map[string]string{}, Params: map[string]float64{}, UserAttrs: map[string]any{"attempt": t.Attempt},
		SystemAttrs: map[string]any{}, Intermediate: map[string]float64{},
	}
	if t.State != Queued {
		line.Start = journalTime(t.Began)
	}
	if t.Finished() {
		line.Complete = journalTime(t.Ended)
	}
	if t.Worker != "" {
		line.UserAttrs["worker"] = t.Worker
	}
	if t.Problem != "" {
		line.UserAttrs["problem"] = t.Problem
	}
	for i, rung := range t.Rungs {
		line.Intermediate[strconv.Itoa(i+1)] = rung.Score
	}
	if t.Values == nil {
		return line, nil
	}
	line.Distributions = distributions
	for _, p := range space {
		v, err := p.internal(t.Values[p.Name])
		if err != nil {
			return line, err
		}
		line.Params[p.Name] = v
	}
	return line, nil
}

func journalTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(journalTimeLayout)
	return &text
}

// distribution returns the parameter in Optuna's JSON form.
func (p Param) distribution() (string, error) {
	name, attributes := "FloatDistribution", any(nil)
	switch p.Kind {
	case Choice:
		name, attributes = "CategoricalDistribution", map[string]any{"choices": p.Choices}
	case Integer, LogInteger:
		name, attributes = "IntDistribution", map[string]any{"log": p.Kind == LogInteger, "step": 1, "low": int64(p.Low), "high": int64(p.High)}
	default:
		attributes = map[string]any{"log": p.Kind == LogUniform, "step": nil, "low": p.Low, "high": p.High}
	}
	text, err := json.Marshal(struct {
		Name       string `json:"name"`
		Attributes any    `json:"attributes"`
	}{name, attributes})
	return string(text), err
}

// internal returns a value in Optuna's internal form: the number, or the index
// of a choice.
func (p Param) internal(text string) (float64, error) {
	if p.Kind != Choice {
		return strconv.ParseFloat(text, 64)
	}
	i := slices.Index(p.Choices, text)
	if i < 0 {
		return 0, fmt.Errorf("parameter %s: %q is not one of the choices", p.Name, text)
	}
	return float64(i), nil
}
