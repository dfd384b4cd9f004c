package experiment

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/search/tuning"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// The name of a configuration is used in file names. A name with the ending of
// another result file would replace that file.
var (
	validName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+=-]*$`)
	reservedName = regexp.MustCompile(`\.([0-9]+|best)$`)
)

// configuration reads a configuration and appends it to the experiment, unless its
// specification cannot be used.
func (r *reader) configuration(n ast.Node, path string, exp *Spec) {
	var c Configuration
	var file string
	var set, tuned ast.Node
	before := len(r.Problems)
	given := r.keys(n, path, map[string]nodeReader{
		"name": r.text(&c.Name), "spec": r.text(&file),
		"set":  func(n ast.Node, path string) { set = n },
		"tune": func(n ast.Node, path string) { tuned = n; c.Tune = r.tune(n, path) },
	})
	switch {
	case given["name"] == nil:
		r.Addf(n, path, "needs a name")
	case !validName.MatchString(c.Name):
		r.Addf(given["name"], path+".name", "%q cannot be used as a file name; use letters, digits and . _ + = -", c.Name)
	case reservedName.MatchString(c.Name):
		r.Addf(given["name"], path+".name", "%q ends like a result file; replace the last dot, for example by -", c.Name)
	case slices.Contains(exp.names(), c.Name):
		r.Addf(given["name"], path+".name", "%q is also the name of another configuration", c.Name)
	}
	if given["spec"] == nil {
		r.Addf(n, path, "needs spec, the file of a specification relative to this file")
		return
	}
	var ok bool
	if c.Spec, ok = r.specification(given["spec"], path, file, set); !ok {
		return
	}
	if len(exp.Configurations) > 0 {
		first := exp.Configurations[0]
		if !slices.Equal(c.Spec.Data.Files, first.Spec.Data.Files) {
			r.Addf(given["spec"], path+".spec", "its table is %s, and that of %s is %s; all configurations must use the same table",
				joined(c.Spec.Data.Files), first.Name, joined(first.Spec.Data.Files))
		}
		if c.Spec.Data.Target != first.Spec.Data.Target {
			r.Addf(given["spec"], path+".spec", "its target is %s, and that of %s is %s; all configurations must have the same target",
				c.Spec.Data.Target, first.Name, first.Spec.Data.Target)
		}
	}
	if c.Tune != nil && len(r.Problems) == before {
		if err := tuning.CheckObjective(c.Spec, c.Tune.Objective); err != nil {
			r.Addf(tuned, path+".tune.objective", "%v", err)
		}
	}
	exp.Configurations = append(exp.Configurations, c)
}

func (r *reader) tune(n ast.Node, path string) *Tune {
	t := &Tune{Objective: "r2", Sampler: "tpe"}
	splits, trials := "first", uint64(20)
	given := r.keys(n, path, map[string]nodeReader{
		"trials": r.count(&trials), "objective": r.text(&t.Objective), "sampler": r.text(&t.Sampler), "halving": r.text(&t.Halving), "splits": r.text(&splits),
	})
	t.Trials = int(trials)
	r.oneOf(given["objective"], path+".objective", t.Objective, tuning.Objectives())
	r.oneOf(given["sampler"], path+".sampler", t.Sampler, tune.Samplers())
	if err := tuning.CheckHalving(cmp.Or(t.Halving, "auto")); err != nil {
		r.Addf(given["halving"], path+".halving", "%v", err)
	}
	r.oneOf(given["splits"], path+".splits", splits, []string{"first", "each"})
	t.Each = splits == "each"
	return t
}

// specification reads the specification of a configuration and overrides the fields
// that the node set names.
func (r *reader) specification(n ast.Node, path, file string, set ast.Node) (spec.Spec, bool) {
	if r.table != "" {
		file = strings.ReplaceAll(file, "{table}", r.table)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.folder, file)
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Addf(n, path+".spec", "no such specification: %s", file)
		return spec.Spec{}, false
	case err != nil:
		r.Addf(n, path+".spec", "%v", err)
		return spec.Spec{}, false
	}
	s, warnings, err := spec.Parse(text, file)
	if err != nil {
		r.addProblems(nil, "", err)
		return s, false
	}
	before := len(r.Problems)
	if set != nil {
		warnings = append(warnings, r.set(set, path+".set", &s)...)
	}
	for _, w := range warnings {
		if !slices.Contains(r.warnings, w) {
			r.warnings = append(r.warnings, w)
		}
	}
	s.Fill()
	if err := s.Validate(); err != nil && len(r.Problems) == before {
		r.addProblems(n, path+": ", err)
	}
	if len(s.Data.Files) == 0 || slices.Contains(s.Data.Files, "-") {
		r.Addf(n, path+".spec", "%s: data.files must name files, because every cell reads the table", file)
	}
	return s, len(r.Problems) == before
}

// set overrides fields of a specification by their dotted names and returns warnings
// about deprecated ones.
func (r *reader) set(n ast.Node, path string, s *spec.Spec) (warnings []string) {
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "must be a mapping of keys to values, such as {fit.sweeps: 20}")
		return nil
	}
	for key, entry := range r.Entries(m, path+".") {
		if key == "split" || key == "seed" {
			r.Addf(entry.Key, path+"."+key, "must be the same for all configurations; use the keys split and seeds of the experiment")
			continue
		}
		var values []string
		_, isList := entry.Value.(*ast.SequenceNode)
		if isList {
			values = r.Texts(entry.Value, path+"."+key)
		} else if text, ok := specfile.Scalar(entry.Value); ok {
			values = []string{text}
		} else {
			r.Addf(entry.Value, path+"."+key, "must be a value or a list of values; write sections with dots, as in fit.sweeps")
			continue
		}
		deprecated, err := s.Set(key, isList, values...)
		if err != nil {
			r.addProblems(entry.Key, path+".", err)
		}
		for _, w := range deprecated {
			warnings = append(warnings, r.File+": "+path+"."+w)
		}
	}
	return warnings
}

// addProblems adds the problems of a specification. Those without a file get the
// position of the node.
func (r *reader) addProblems(n ast.Node, prefix string, err error) {
	var problems spec.Problems
	if !errors.As(err, &problems) {
		r.Addf(n, strings.TrimSuffix(prefix, "."), "%v", err)
		return
	}
	for _, p := range problems {
		if p.File != "" {
			r.Problems = append(r.Problems, p)
			continue
		}
		r.Addf(n, prefix+p.Path, "%s", p.Message)
	}
}
