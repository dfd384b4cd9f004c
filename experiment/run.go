package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A Runner does the work of an experiment, each piece apart, so that its time and
// memory are its own. Files are named by their paths.
type Runner interface {
	// Split writes the part of each row of a table.
	Split(ctx context.Context, data spec.Data, split Split, to string) error
	// Tune searches about the specification and writes the best one. A study that
	// is there is gone on with. Usage is that of all runs that worked on it, and
	// counts also where it fails.
	Tune(ctx context.Context, task TuneTask) (values map[string]string, used Usage, err error)
	// Fit trains a specification and measures it. The model goes to a file, or
	// nowhere where its name is "".
	Fit(ctx context.Context, spec, model string) (Fitted, error)
}

// A TuneTask is the search of one configuration.
type TuneTask struct {
	Tune
	Spec  string // the specification's file
	Study string // where trials are kept
	Best  string // where the best specification goes
	Used  Usage  // what earlier runs took, as far as they told: not those that were killed
}

// Fitted is what a fit came to, measures as kft evaluate --json names them.
type Fitted struct {
	Usage
	Valid, Test Measures
}

// Options say how to run an experiment.
type Options struct {
	Runner Runner
	Tool   string       // what the cells are made by, with its version
	Redo   []string     // configurations whose results are thrown away first
	Say    func(string) // is told a line at a time how far it is; nil says nothing
}

// Done says what a run came to.
type Done struct {
	Cells, Failed int // of the experiment, those of earlier runs included
}

// Run does what is missing of the experiment, split by split, so that differences
// come early: on each split first what is to be tuned there, then a cell a
// configuration. A cell that fails is recorded, and the others go on; the next run
// tries it again. Where ctx ends, the cell in work is lost and nothing else.
func Run(ctx context.Context, spec Spec, opt Options) (Done, error) {
	if opt.Say == nil {
		opt.Say = func(string) {}
	}
	for _, name := range opt.Redo {
		if names := spec.names(); !slices.Contains(names, name) {
			return Done{}, fmt.Errorf("there is no configuration %q%s to do again", name, suggest.Hint(name, names))
		}
	}
	if len(spec.Measures) == 0 {
		spec.Measures = DefaultMeasures()
	}
	for _, m := range spec.Measures {
		if err := CheckMeasure(m); err != nil {
			return Done{}, err
		}
	}
	for _, sub := range []string{"splits", "tuning", "cells", "specs"} {
		if err := os.MkdirAll(filepath.Join(string(spec.Output), sub), 0o777); err != nil {
			return Done{}, fmt.Errorf("output: the folder %s cannot be made: %w", spec.Output, err)
		}
	}
	unlock, err := lock(filepath.Join(string(spec.Output), "lock"))
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	plan := Plan{Name: spec.Name, Configurations: spec.names(), Splits: len(spec.Splits), Tuned: spec.tuned(), Against: spec.Against, Measures: spec.Measures}
	if err := writeJSON(spec.Output.planFile(), plan); err != nil {
		return Done{}, err
	}
	w := &work{Spec: spec, Options: opt, files: map[string]string{}, chosen: map[string]chosen{}}
	err = w.run(ctx)
	return w.done, err
}

func (s Spec) names() []string {
	var names []string
	for _, c := range s.Configurations {
		names = append(names, c.Name)
	}
	return names
}

// tuned are the records of tuning that the cells rest on.
func (s Spec) tuned() []string {
	names := []string{}
	for _, c := range s.Configurations {
		switch {
		case c.Tune == nil:
		case c.Tune.Each:
			for n := 1; n <= len(s.Splits); n++ {
				names = append(names, tuningName(c.Name, n))
			}
		default:
			names = append(names, tuningName(c.Name, 0))
		}
	}
	return names
}

// work is one run.
type work struct {
	Spec
	Options
	files  map[string]string // hashes of files by name
	parts  []string          // hashes of the splits
	chosen map[string]chosen // by configuration: the last that was tuned
	done   Done
	k      int // the cell in work, from 1
}

// chosen is what a configuration is fitted with.
type chosen struct {
	spec    spec.Spec
	values  map[string]string
	problem string // of its tuning
}

// redo forgets cells and tuning.
func (w *work) redo() error {
	for _, name := range w.Redo {
		for n := 1; n <= len(w.Splits); n++ {
			for _, file := range []string{w.Output.cellFile(name, n), w.tuningFile(name, 0, ".json"), w.tuningFile(name, n, ".json")} {
				if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
		}
	}
	return nil
}

func (w *work) run(ctx context.Context) error {
	for _, c := range w.Configurations { // what is not there should not be found out after hours
		if _, err := w.content(c.Spec); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	if err := w.redo(); err != nil {
		return err
	}
	if err := w.split(ctx); err != nil {
		return err
	}
	for n := 1; n <= len(w.Splits); n++ {
		for _, c := range w.Configurations {
			if err := w.choose(ctx, c, n); err != nil {
				return err
			}
		}
		for _, c := range w.Configurations {
			w.k++
			cell, err := w.cell(ctx, c, n)
			if err != nil {
				return err
			}
			w.done.Cells++
			if cell.Problem != "" {
				w.done.Failed++
			}
		}
	}
	return nil
}

// cell does one, unless it is done.
func (w *work) cell(ctx context.Context, c Configuration, n int) (Cell, error) {
	ready := w.chosen[c.Name]
	cell := Cell{Configuration: c.Name, Split: n, Tool: w.Tool, Values: ready.values, Problem: ready.problem}
	title := fmt.Sprintf("cell %d of %d: %s, split %d", w.k, len(w.Splits)*len(w.Configurations), c.Name, n)
	file := w.Output.cellFile(c.Name, n)
	var old Cell
	done := readJSON(file, &old) == nil && old.Problem == ""
	if ready.problem != "" {
		if done { // a search that fails takes no result away
			w.Say(title + ": failed: " + ready.problem + "; the result of before is kept")
			return cell, nil
		}
		return cell, w.record(file, cell, title+": failed: "+ready.problem)
	}
	spec := w.on(ready.spec, n)
	var err error
	if cell.Definition, err = w.definition(spec, n); err != nil {
		return cell, err
	}
	if done {
		if old.Definition == cell.Definition {
			w.Say(title + ": done before" + w.by(old.Tool) + w.result(old))
			return old, nil
		}
		w.Say(title + ": its definition has changed (specification, table or split): done again")
	}
	specFile := filepath.Join(string(w.Output), "specs", c.Name+"."+strconv.Itoa(n)+".yaml")
	if err := writeText(specFile, spec.YAML()); err != nil {
		return cell, err
	}
	modelFile := ""
	if w.Keep {
		folder := filepath.Join(string(w.Output), "models")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return cell, err
		}
		modelFile = filepath.Join(folder, c.Name+"."+strconv.Itoa(n)+".kft")
	}
	fitted, err := w.Runner.Fit(ctx, specFile, modelFile)
	if ctx.Err() != nil {
		return cell, ctx.Err() // half a fit is none
	}
	cell.Usage = fitted.Usage
	if err != nil {
		cell.Problem = oneLine(err.Error())
		return cell, w.record(file, cell, title+": failed: "+cell.Problem)
	}
	cell.Valid, cell.Test = fitted.Valid, fitted.Test
	return cell, w.record(file, cell, title+w.result(cell))
}

// by names the tool of an earlier result where it is not the one at work: what
// another version made is kept, for most versions fit alike, but told.
func (w *work) by(tool string) string {
	if tool == w.Tool || tool == "" {
		return ""
	}
	return " by " + tool
}

// record writes a result and then tells of it.
func (w *work) record(file string, result any, line string) error {
	if err := writeJSON(file, result); err != nil {
		return err
	}
	w.Say(line)
	return nil
}

// result tells the main measure and the time of a cell.
func (w *work) result(c Cell) string {
	text := ""
	if m, err := measureOf(w.Measures[0]); err == nil && m.name != "seconds" {
		if v, ok := m.of(c); ok {
			text = fmt.Sprintf(": %s %s", m.title, number(v, m.decimals))
		}
	}
	return fmt.Sprintf("%s in %.1f s", text, c.Seconds)
}

// on puts a specification on split n.
func (w *work) on(spec spec.Spec, n int) spec.Spec {
	spec.Split, spec.Seed = "file:"+w.Output.SplitFile(n), w.Splits[n-1].Seed
	return spec
}
