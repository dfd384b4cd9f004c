package experiment

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
)

// experiments reads an experiment. With the key tables it has one experiment per table,
// whose name replaces {table} in the names of specifications.
func (r *reader) experiments(root ast.Node) Spec {
	m := specfile.Mapping(root)
	if m == nil {
		return r.experiment(root)
	}
	var list ast.Node
	for _, entry := range m.Values {
		if key, ok := specfile.Scalar(entry.Key); ok && key == "tables" {
			list = entry.Value
		}
	}
	if list == nil {
		return r.experiment(root)
	}
	var all Spec
	var names []string
	for path, n := range r.Elements(list, "tables") {
		var name string
		r.text(&name)(n, path)
		switch {
		case name == "":
		case !validName.MatchString(name):
			r.Addf(n, path, "%q cannot be used as a file name; use letters, digits and . _ + = -", name)
		case slices.Contains(names, name):
			r.Addf(n, path, "%q is given twice", name)
		}
		names = append(names, name)
	}
	if len(names) == 0 && len(r.Problems) == 0 {
		r.Addf(list, "tables", "is empty; give at least one name, which replaces {table} in the specifications of configurations")
	}
	for _, name := range names {
		if len(r.Problems) > 0 {
			break
		}
		r.table = name
		one := r.experiment(root)
		if all.Output == "" {
			all = Spec{Name: one.Name, Output: one.Output, Splits: one.Splits, Against: one.Against, Measures: one.Measures, KeepModels: one.KeepModels}
		}
		one.Name, one.Output = name, Folder(filepath.Join(string(one.Output), name))
		all.Tables = append(all.Tables, one)
	}
	return all
}

// allNames returns the names of the configurations, which are the same on every table.
func (s Spec) allNames() []string {
	if len(s.Tables) > 0 {
		return s.Tables[0].names()
	}
	return s.names()
}

// runTables runs the experiments on several tables, one after the other.
func runTables(ctx context.Context, exp Spec, opt Options) (Done, error) {
	plan := Plan{Name: exp.Name, Configurations: exp.allNames(), Splits: len(exp.Splits), Against: exp.Against, Measures: exp.Measures}
	for _, t := range exp.Tables {
		plan.Tables = append(plan.Tables, t.Name)
	}
	if err := writeJSON(exp.Output.planFile(), plan); err != nil {
		return Done{}, err
	}
	for _, warning := range exp.Warnings {
		opt.Progress("warning: " + warning)
	}
	var all Done
	for _, t := range exp.Tables {
		opt := opt
		progress := opt.Progress
		opt.Progress = func(line string) { progress(t.Name + ": " + line) }
		done, err := Run(ctx, t, opt)
		all.Cells += done.Cells
		all.Failed += done.Failed
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// ReadTables reads the results of an experiment on several tables. The results of each
// table have its name in their plan. It is empty for a folder of one table.
func ReadTables(folder Folder) ([]Results, error) {
	var plan Plan
	if err := readJSON(folder.planFile(), &plan); err != nil || len(plan.Tables) == 0 {
		return nil, nil // Read reports what is wrong
	}
	var all []Results
	for _, name := range plan.Tables {
		r, err := Read(Folder(filepath.Join(string(folder), name)))
		if err != nil {
			r = Results{Plan: plan} // not started
		}
		r.Plan.Name, r.Plan.Tables = cmp.Or(name, r.Plan.Name), nil
		all = append(all, r)
	}
	return all, nil
}
