package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Options specify how to run an experiment.
type Options struct {
	Runner   Runner
	Tool     string            // program and version that makes the cells
	Redo     []string          // configurations whose earlier results are discarded first
	Progress func(line string) // is called with warnings and lines of progress; may be nil
}

// Done counts the cells of an experiment, including those of earlier runs.
type Done struct {
	Cells, Failed int
}

// Run does the missing work of the experiment, split by split, so that differences
// between configurations are known early. On each split it tunes the configurations
// that request it and then fits every configuration. A cell that fails is recorded,
// and the next run tries it again. If ctx ends, only the current cell is lost. The
// warnings of the specification are passed to opt.Progress first.
func Run(ctx context.Context, exp Spec, opt Options) (Done, error) {
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	for _, name := range opt.Redo {
		if names := exp.allNames(); !slices.Contains(names, name) {
			return Done{}, fmt.Errorf("unknown configuration %q%s; the configurations are %s", name, suggest.Hint(name, names), joined(names))
		}
	}
	if len(exp.Measures) == 0 {
		exp.Measures = DefaultMeasures()
	}
	for _, m := range exp.Measures {
		if err := CheckMeasure(m); err != nil {
			return Done{}, err
		}
	}
	if len(exp.Tables) > 0 {
		return runTables(ctx, exp, opt)
	}
	for _, sub := range []string{"splits", "tuning", "cells", "specs"} {
		if err := os.MkdirAll(filepath.Join(string(exp.Output), sub), 0o777); err != nil {
			return Done{}, fmt.Errorf("output: cannot create the folder %s: %w", exp.Output, err)
		}
	}
	unlock, err := lockFolder(filepath.Join(string(exp.Output), "lock"))
	if err != nil {
		return Done{}, err
	}
	defer unlock()
	for _, warning := range exp.Warnings {
		opt.Progress("warning: " + warning)
	}
	plan := Plan{Name: exp.Name, Configurations: exp.names(), Splits: len(exp.Splits), Tuned: exp.tuned(), Against: exp.Against, Measures: exp.Measures}
	if err := writeJSON(exp.Output.planFile(), plan); err != nil {
		return Done{}, err
	}
	r := &run{Spec: exp, Options: opt, fileHashes: map[string]string{}, choices: map[string]choice{}}
	err = r.all(ctx)
	return r.done, err
}

func (s Spec) names() []string {
	var names []string
	for _, c := range s.Configurations {
		names = append(names, c.Name)
	}
	return names
}

// tuned returns the names of the tuning records that the cells depend on.
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

// run is the state of one run.
type run struct {
	Spec
	Options
	fileHashes map[string]string // by file name
	partHashes []string          // by split
	choices    map[string]choice // by configuration: its latest choice
	done       Done
	current    int // number of the current cell, from 1
}

// A choice is the specification that a configuration is fitted with.
type choice struct {
	spec    spec.Spec
	values  map[string]string // the values that tuning chose
	problem string            // why tuning failed
}

// all does the missing work.
func (r *run) all(ctx context.Context) error {
	for _, c := range r.Configurations { // report missing tables before hours of work
		if _, err := r.tableHash(c.Spec); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	if err := r.discard(r.Redo); err != nil {
		return err
	}
	if err := r.writeSplits(ctx); err != nil {
		return err
	}
	for n := 1; n <= len(r.Splits); n++ {
		for _, c := range r.Configurations {
			if err := r.choose(ctx, c, n); err != nil {
				return err
			}
		}
		for _, c := range r.Configurations {
			r.current++
			cell, err := r.cell(ctx, c, n)
			if err != nil {
				return err
			}
			r.done.Cells++
			if cell.Problem != "" {
				r.done.Failed++
			}
		}
	}
	return nil
}

// discard removes the cells and the tuning of configurations.
func (r *run) discard(configurations []string) error {
	for _, name := range configurations {
		for n := 1; n <= len(r.Splits); n++ {
			for _, file := range []string{r.Output.cellFile(name, n), r.tuningFile(name, 0, ".json"), r.tuningFile(name, n, ".json")} {
				if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
		}
	}
	return nil
}

// onSplit returns the specification with the parts and the seed of split n.
func (r *run) onSplit(s spec.Spec, n int) spec.Spec {
	s.Split, s.Seed = "file:"+r.Output.SplitFile(n), r.Splits[n-1].Seed
	return s
}

// byOtherTool returns " by TOOL" for an earlier result of another tool. Results of
// other versions are kept, because most versions give the same results.
func (r *run) byOtherTool(tool string) string {
	if tool == r.Tool || tool == "" {
		return ""
	}
	return " by " + tool
}

// record writes a result and then reports it.
func (r *run) record(file string, result any, line string) error {
	if err := writeJSON(file, result); err != nil {
		return err
	}
	r.Progress(line)
	return nil
}
