package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
)

// tuningName is what the files of a configuration's search on split n are called, n
// being 0 for the one that serves all splits.
func tuningName(configuration string, n int) string {
	if n == 0 {
		return configuration
	}
	return configuration + "." + strconv.Itoa(n)
}

func (w *work) tuningFile(configuration string, n int, ending string) string {
	return filepath.Join(string(w.Output), "tuning", tuningName(configuration, n)+ending)
}

// choose finds what a configuration is fitted with on split n: the specification
// as it is, what was found on the first split, or what a search finds now.
func (w *work) choose(ctx context.Context, c Configuration, n int) error {
	switch {
	case c.Tune == nil:
		w.chosen[c.Name] = chosen{spec: c.Spec}
		return nil
	case n > 1 && !c.Tune.Each:
		return nil
	}
	best, err := w.tune(ctx, c, n)
	w.chosen[c.Name] = best
	return err
}

// tune searches, unless that is done. Its record is written before it begins, for
// the study that is left behind by a run that was killed belongs to it.
func (w *work) tune(ctx context.Context, c Configuration, n int) (chosen, error) {
	suffix := 0
	if c.Tune.Each {
		suffix = n
	}
	file := func(ending string) string { return w.tuningFile(c.Name, suffix, ending) }
	spec := w.on(c.Spec, n)
	record := Tuning{Configuration: c.Name, Tool: w.Tool, Split: n, Objective: c.Tune.Objective, Trials: c.Tune.Trials}
	tune := *c.Tune
	tune.Trials = 0                  // more of them go on with the study
	space, err := search.Space(spec) // which another version may derive otherwise
	if err != nil {
		return chosen{}, err
	}
	if record.Definition, err = w.definition(spec, n, fmt.Sprintf("%+v %+v", tune, space)); err != nil {
		return chosen{}, err
	}
	var old Tuning
	there := readJSON(file(".json"), &old) == nil
	same := there && old.Definition == record.Definition && old.Problem == "" && old.Trials <= c.Tune.Trials
	switch {
	case same && old.Values != nil && old.Trials == c.Tune.Trials:
		best, err := w.readBest(file(".best.yaml"))
		if err == nil {
			if by := w.by(old.Tool); by != "" {
				w.Say(fmt.Sprintf("tuning of %s: done before%s", c.Name, by))
			}
			return chosen{spec: best, values: old.Values}, nil
		}
		w.Say(fmt.Sprintf("tuning of %s: %v: done again", c.Name, err))
	case same:
		record.Usage = old.Usage // of the part that an earlier run did
		if by := w.by(old.Tool); by != "" {
			w.Say(fmt.Sprintf("tuning of %s: goes on with trials%s", c.Name, by))
			record.Tool = old.Tool + ", " + w.Tool
		}
	case there && old.Problem == "":
		w.Say(fmt.Sprintf("tuning of %s: its definition has changed (specification, table, split or search): done again", c.Name))
		fallthrough
	default:
		for _, ending := range []string{".db", ".db-wal", ".db-shm", ".best.yaml"} {
			if err := os.Remove(file(ending)); err != nil && !os.IsNotExist(err) {
				return chosen{}, err
			}
		}
	}
	if err := writeText(file(".yaml"), spec.YAML()); err != nil {
		return chosen{}, err
	}
	if err := writeJSON(file(".json"), record); err != nil {
		return chosen{}, err
	}
	w.Say(fmt.Sprintf("tuning of %s on split %d: %s by %s", c.Name, n, plural(c.Tune.Trials, "trial"), c.Tune.Objective))
	values, used, err := w.Runner.Tune(ctx, TuneTask{Tune: *c.Tune, Spec: file(".yaml"), Study: file(".db"), Best: file(".best.yaml"), Used: record.Usage})
	record.Usage = used
	if ctx.Err() != nil {
		if err := writeJSON(file(".json"), record); err != nil {
			return chosen{}, err
		}
		return chosen{}, ctx.Err()
	}
	found := chosen{values: values}
	if err == nil {
		found.spec, err = w.readBest(file(".best.yaml"))
	}
	if err != nil {
		record.Problem = oneLine(err.Error())
		found.problem = "tuning: " + record.Problem
		return found, w.record(file(".json"), record, "tuning of "+c.Name+": failed: "+record.Problem)
	}
	record.Values = values
	if record.Values == nil {
		record.Values = map[string]string{}
	}
	return found, w.record(file(".json"), record, fmt.Sprintf("tuning of %s: %s in %.1f s", c.Name, valuesText(values), record.Seconds))
}

// readBest reads the specification that a search has chosen.
func (w *work) readBest(file string) (spec.Spec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return spec.Spec{}, err
	}
	spec, _, err := spec.Parse(text, file)
	if err != nil {
		return spec, err
	}
	spec.Fill()
	return spec, spec.Validate()
}
