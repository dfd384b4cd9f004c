package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kernel-fried-tensor/kft/spec"
)

// cell fits and measures a configuration on split n, unless a result with the same
// definition exists.
func (r *run) cell(ctx context.Context, c Configuration, n int) (Cell, error) {
	chosen := r.choices[c.Name]
	cell := Cell{Configuration: c.Name, Split: n, Tool: r.Tool, Values: chosen.values, Problem: chosen.problem}
	title := fmt.Sprintf("cell %d of %d: %s, split %d", r.current, len(r.Splits)*len(r.Configurations), c.Name, n)
	file := r.Output.cellFile(c.Name, n)
	var old Cell
	exists := readJSON(file, &old) == nil && old.Problem == ""
	if chosen.problem != "" {
		if exists { // a failed search does not remove an earlier result
			r.Progress(title + ": failed: " + chosen.problem + "; the earlier result is kept")
			return cell, nil
		}
		return cell, r.record(file, cell, title+": failed: "+chosen.problem)
	}
	s := r.onSplit(chosen.spec, n)
	var err error
	if cell.Definition, err = r.definition(s, n); err != nil {
		return cell, err
	}
	if exists {
		if old.Definition == cell.Definition {
			r.Progress(title + ": already done" + r.byOtherTool(old.Tool) + r.result(old))
			return old, nil
		}
		r.Progress(title + ": specification, table or split has changed; running again")
	}
	specFile, modelFile, err := r.fitFiles(s, c.Name+"."+strconv.Itoa(n))
	if err != nil {
		return cell, err
	}
	fitted, err := r.Runner.Fit(ctx, specFile, modelFile)
	if ctx.Err() != nil {
		return cell, ctx.Err() // an interrupted fit is not a result
	}
	cell.Usage = fitted.Usage
	if err != nil {
		cell.Problem = oneLine(err.Error())
		return cell, r.record(file, cell, title+": failed: "+cell.Problem)
	}
	cell.Valid, cell.Test, cell.Formula = fitted.Valid, fitted.Test, fitted.Formula
	return cell, r.record(file, cell, title+r.result(cell))
}

// fitFiles writes the specification of a cell and returns its file and that of the
// model, "" if models are not kept.
func (r *run) fitFiles(s spec.Spec, name string) (specFile, modelFile string, err error) {
	specFile = filepath.Join(string(r.Output), "specs", name+".yaml")
	if err := writeFile(specFile, s.YAML()); err != nil || !r.KeepModels {
		return specFile, "", err
	}
	folder := filepath.Join(string(r.Output), "models")
	return specFile, filepath.Join(folder, name+".kft"), os.MkdirAll(folder, 0o777)
}

// result returns the first measure and the time of a cell as text.
func (r *run) result(c Cell) string {
	text := ""
	if m, err := measureOf(r.Measures[0]); err == nil && m.name != "seconds" {
		if v, ok := m.of(c); ok {
			text = fmt.Sprintf(": %s %s", m.title, number(v, m.decimals))
		}
	}
	return fmt.Sprintf("%s in %.1f s", text, c.Seconds)
}
