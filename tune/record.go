package tune

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// A Record is the complete content of a study.
type Record struct {
	Definition []Fact  `json:"definition"`
	Best       *Trial  `json:"best"` // nil if no trial is done
	Trials     []Trial `json:"trials"`
}

// Read returns the content of a store.
func Read(ctx context.Context, store Store) (Record, error) {
	definition, err := store.Definition(ctx)
	if err != nil {
		return Record{}, err
	}
	if definition == "" {
		return Record{}, errors.New("contains no study yet")
	}
	trials, err := store.Trials(ctx)
	if err != nil {
		return Record{}, err
	}
	r := Record{Definition: facts(definition), Trials: trials}
	r.Best = Definition{Goal: Goal(r.Fact("goal"))}.Best(trials)
	return r, nil
}

// Fact returns the text of a line of the definition, or "" if there is none.
func (r Record) Fact(name string) string {
	text, _ := find(r.Definition, name)
	return text
}

// Parameters returns the names of the parameters, in the order of the space.
func (r Record) Parameters() []string {
	var names []string
	for _, f := range r.Definition {
		if name, is := strings.CutPrefix(f.Name, "parameter "); is {
			names = append(names, name)
		}
	}
	return names
}

// WriteCSV writes one row per trial, with one column per parameter.
func (r Record) WriteCSV(w io.Writer) error {
	names := r.Parameters()
	out := csv.NewWriter(w)
	out.Write(append([]string{"number", "state", "score", "attempt", "worker", "began", "ended", "problem"}, names...))
	for _, t := range r.Trials {
		score := ""
		if t.Score != nil {
			score = number(*t.Score)
		}
		row := []string{strconv.Itoa(t.Number), string(t.State), score, strconv.Itoa(t.Attempt), t.Worker, stamp(t.Began), stamp(t.Ended), t.Problem}
		for _, name := range names {
			row = append(row, t.Values[name])
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
