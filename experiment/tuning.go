package experiment

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/search/tuning"
	"github.com/kernel-fried-tensor/kft/spec"
)

// tuningName returns the base name of the files of a configuration's search on
// split n. n is 0 for a search that serves all splits.
func tuningName(configuration string, n int) string {
	if n == 0 {
		return configuration
	}
	return configuration + "." + strconv.Itoa(n)
}

func (r *run) tuningFile(configuration string, n int, extension string) string {
	return filepath.Join(string(r.Output), "tuning", tuningName(configuration, n)+extension)
}

// choose decides what a configuration is fitted with on split n: the specification
// as it is, the choice of the first split, or the result of a new search.
func (r *run) choose(ctx context.Context, c Configuration, n int) error {
	switch {
	case c.Tune == nil:
		r.choices[c.Name] = choice{spec: c.Spec}
		return nil
	case n > 1 && !c.Tune.Each:
		return nil
	}
	best, err := r.tune(ctx, c, n)
	r.choices[c.Name] = best
	return err
}

// tune searches, unless the search is already done. The record is written before the
// search begins, so that the study of a run that was killed can be continued.
func (r *run) tune(ctx context.Context, c Configuration, n int) (choice, error) {
	suffix := 0
	if c.Tune.Each {
		suffix = n
	}
	file := func(extension string) string { return r.tuningFile(c.Name, suffix, extension) }
	s := r.onSplit(c.Spec, n)
	record := Tuning{Configuration: c.Name, Tool: r.Tool, Split: n, Objective: c.Tune.Objective, Trials: c.Tune.Trials}
	var err error
	if record.Definition, err = r.tuningDefinition(s, *c.Tune, n); err != nil {
		return choice{}, err
	}
	var old Tuning
	exists := readJSON(file(".json"), &old) == nil
	same := exists && old.Definition == record.Definition && old.Problem == "" && old.Trials <= c.Tune.Trials
	switch {
	case same && old.Values != nil && old.Trials == c.Tune.Trials:
		best, err := readBest(file(".best.yaml"))
		if err == nil {
			if by := r.byOtherTool(old.Tool); by != "" {
				r.Progress(fmt.Sprintf("tuning of %s: already done%s", c.Name, by))
			}
			return choice{spec: best, values: old.Values}, nil
		}
		r.Progress(fmt.Sprintf("tuning of %s: %v; running again", c.Name, err))
	case same:
		record.Usage = old.Usage // of earlier runs on the same study
		if by := r.byOtherTool(old.Tool); by != "" {
			r.Progress(fmt.Sprintf("tuning of %s: continuing trials%s", c.Name, by))
			record.Tool = old.Tool + ", " + r.Tool
		}
	case exists && old.Problem == "":
		r.Progress(fmt.Sprintf("tuning of %s: specification, table, split or search has changed; running again", c.Name))
		fallthrough
	default:
		for _, extension := range []string{".db", ".db-wal", ".db-shm", ".best.yaml"} {
			if err := os.Remove(file(extension)); err != nil && !os.IsNotExist(err) {
				return choice{}, err
			}
		}
	}
	if err := writeFile(file(".yaml"), s.YAML()); err != nil {
		return choice{}, err
	}
	if err := writeJSON(file(".json"), record); err != nil {
		return choice{}, err
	}
	r.Progress(fmt.Sprintf("tuning of %s on split %d: %s, objective %s", c.Name, n, plural.Count(c.Tune.Trials, "trial"), c.Tune.Objective))
	values, used, err := r.Runner.Tune(ctx, TuneTask{Tune: *c.Tune, Spec: file(".yaml"), Study: file(".db"), Best: file(".best.yaml"), Used: record.Usage})
	record.Usage = used
	if ctx.Err() != nil {
		if err := writeJSON(file(".json"), record); err != nil {
			return choice{}, err
		}
		return choice{}, ctx.Err()
	}
	found := choice{values: values}
	if err == nil {
		found.spec, err = readBest(file(".best.yaml"))
	}
	if err != nil {
		record.Problem = oneLine(err.Error())
		found.problem = "tuning: " + record.Problem
		return found, r.record(file(".json"), record, "tuning of "+c.Name+": failed: "+record.Problem)
	}
	record.Values = values
	if record.Values == nil {
		record.Values = map[string]string{}
	}
	return found, r.record(file(".json"), record, fmt.Sprintf("tuning of %s: %s in %.1f s", c.Name, valuesText(values), record.Seconds))
}

// tuningDefinition hashes everything that a search on split n depends on. The number
// of trials is not part of it, because a study can be continued. The space is, because
// another version may derive another one from the same specification.
func (r *run) tuningDefinition(s spec.Spec, tune Tune, n int) (string, error) {
	tune.Trials = 0
	space, err := tuning.Space(s)
	if err != nil {
		return "", err
	}
	return r.definition(s, n, fmt.Sprintf("%+v %+v", tune, space))
}

// readBest reads the specification that a search chose.
func readBest(file string) (spec.Spec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return spec.Spec{}, err
	}
	best, _, err := spec.Parse(text, file)
	if err != nil {
		return best, err
	}
	best.Fill()
	return best, best.Validate()
}

func valuesText(values map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts = append(texts, name+"="+values[name])
	}
	if len(texts) == 0 {
		return "no parameters to vary"
	}
	return strings.Join(texts, " ")
}
