package experiment

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// version of the format.
const version = "1"

// A reader makes an experiment of a syntax tree.
type reader struct {
	specfile.Reader
	folder string // where specifications are
}

// keys hands the values of a mapping to those who know the keys, and returns the
// nodes that were there by key.
func (r *reader) keys(n ast.Node, path string, known map[string]func(n ast.Node, path string)) map[string]ast.Node {
	there := map[string]ast.Node{}
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "needs keys with values")
		return there
	}
	if path != "" {
		path += "."
	}
	names := slices.Sorted(maps.Keys(known))
	for key, entry := range r.Entries(m, path) {
		read := known[key]
		if read == nil {
			hint := cmp.Or(suggest.Hint(key, names), "; there are "+strings.Join(names, ", "))
			r.Addf(entry.Key, path+key, "unknown key%s", hint)
			continue
		}
		there[key] = entry.Value
		read(entry.Value, path+key)
	}
	return there
}

// text reads one value.
func (r *reader) text(to *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := specfile.Scalar(n)
		if !ok || text == "" {
			r.Addf(n, path, "must be a single value")
		}
		*to = text
	}
}

// count reads a whole number from 1 on.
func (r *reader) count(to *uint64) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, _ := specfile.Scalar(n)
		v, err := strconv.ParseUint(text, 10, 32)
		if err != nil || v < 1 {
			r.Addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*to = v
	}
}

// oneOf refuses a value that is not among those allowed.
func (r *reader) oneOf(n ast.Node, path, value string, allowed []string) {
	if n != nil && !slices.Contains(allowed, value) {
		r.Addf(n, path, "%q is not known%s; use one of %s", value, suggest.Hint(value, allowed), strings.Join(allowed, ", "))
	}
}

func (r *reader) experiment(root ast.Node) Spec {
	spec := Spec{Measures: DefaultMeasures()}
	var versionText, output, split, keep string
	var seeds []uint64
	there := r.keys(root, "", map[string]func(ast.Node, string){
		"version": r.text(&versionText), "name": r.text(&spec.Name), "output": r.text(&output), "keep": r.text(&keep), "against": r.text(&spec.Against), "split": r.text(&split),
		"seeds": func(n ast.Node, path string) {
			for here, n := range r.Elements(n, path) {
				var seed uint64
				r.count(&seed)(n, here)
				seeds = append(seeds, seed)
			}
		},
		"splits": func(n ast.Node, path string) {
			for here, n := range r.Elements(n, path) {
				spec.Splits = append(spec.Splits, r.split(n, here))
			}
		},
		"configurations": func(n ast.Node, path string) {
			for here, n := range r.Elements(n, path) {
				r.configuration(n, here, &spec)
			}
		},
		"measures": func(n ast.Node, path string) {
			spec.Measures = nil
			for here, n := range r.Elements(n, path) {
				spec.Measures = append(spec.Measures, r.measure(n, here))
			}
		},
	})
	if there["version"] == nil || versionText != version {
		r.Addf(there["version"], "version", "write version: %s, of this format", version)
	}
	spec.Output = Folder(output)
	if there["output"] == nil {
		r.Addf(nil, "output", "missing; name the folder of the results, such as results/%s", orName(spec.Name))
	}
	if there["splits"] != nil && (there["split"] != nil || there["seeds"] != nil) {
		r.Addf(there["splits"], "splits", "give either splits, or split with seeds")
	}
	if there["split"] != nil {
		r.checkSplit(there["split"], "split", split)
		if len(seeds) == 0 {
			r.Addf(there["split"], "split", "needs seeds, such as seeds: [1, 2, 3, 4, 5]")
		}
		for _, seed := range seeds {
			spec.Splits = append(spec.Splits, Split{split, seed})
		}
	}
	if len(spec.Splits) == 0 && there["split"] == nil && there["splits"] == nil {
		r.Addf(nil, "splits", "none given; write split: 'random:60/20/20' and seeds: [1, 2, 3], or a list splits")
	}
	if list, isList := there["splits"].(*ast.SequenceNode); isList && len(list.Values) == 0 {
		r.Addf(list, "splits", "is empty; give at least one, such as {split: 'random:60/20/20', seed: 1}")
	}
	r.checkRepeated(spec.Splits)
	if len(spec.Configurations) == 0 && len(r.Problems) == 0 {
		r.Addf(nil, "configurations", "none given; name at least one, with its spec")
	}
	if there["against"] != nil && len(r.Problems) == 0 {
		var names []string
		for _, c := range spec.Configurations {
			names = append(names, c.Name)
		}
		r.oneOf(there["against"], "against", spec.Against, names)
	}
	if len(spec.Measures) == 0 {
		r.Addf(there["measures"], "measures", "is empty; leave it out for %s", strings.Join(DefaultMeasures(), ", "))
	}
	spec.Keep = keep == "yes" || keep == "true"
	r.oneOf(there["keep"], "keep", keep, []string{"yes", "no", "true", "false"})
	return spec
}

func orName(name string) string {
	if name == "" {
		return "iowa"
	}
	return name
}

// checkRepeated refuses a split that is there already: it would count twice.
func (r *reader) checkRepeated(splits []Split) {
	for i, s := range splits {
		if j := slices.Index(splits, s); j < i {
			r.Addf(nil, "splits", "%s with seed %d is given twice, as split %d and %d", s.Split, s.Seed, j+1, i+1)
		}
	}
}

func (r *reader) split(n ast.Node, path string) Split {
	s := Split{Seed: 1}
	there := r.keys(n, path, map[string]func(ast.Node, string){"split": r.text(&s.Split), "seed": r.count(&s.Seed)})
	if there["split"] == nil {
		r.Addf(n, path, "needs split, such as {split: 'random:60/20/20', seed: 1}")
		return s
	}
	r.checkSplit(there["split"], path+".split", s.Split)
	return s
}

func (r *reader) checkSplit(n ast.Node, path, text string) {
	if _, err := split.Parse(text); err != nil {
		r.Addf(n, path, "%v", err)
	}
}

func (r *reader) measure(n ast.Node, path string) string {
	var name string
	r.text(&name)(n, path)
	if err := CheckMeasure(name); err != nil {
		r.Addf(n, path, "%v", err)
	}
	return name
}

// fileName is what a configuration may be called: files have its name. One that
// ends as the files of another do would take their place.
var (
	fileName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+=-]*$`)
	takenName = regexp.MustCompile(`\.([0-9]+|best)$`)
)

func (r *reader) configuration(n ast.Node, path string, spec *Spec) {
	var c Configuration
	var file string
	var set ast.Node
	before := len(r.Problems)
	var tuned ast.Node
	there := r.keys(n, path, map[string]func(ast.Node, string){
		"name": r.text(&c.Name), "spec": r.text(&file),
		"set":  func(n ast.Node, path string) { set = n },
		"tune": func(n ast.Node, path string) { tuned = n; c.Tune = r.tune(n, path) },
	})
	switch again := slices.ContainsFunc(spec.Configurations, func(o Configuration) bool { return o.Name == c.Name }); {
	case there["name"] == nil:
		r.Addf(n, path, "needs a name")
	case !fileName.MatchString(c.Name):
		r.Addf(there["name"], path+".name", "%q cannot be the name of a file; use letters, digits and . _ + = -", c.Name)
	case takenName.MatchString(c.Name):
		r.Addf(there["name"], path+".name", "%q ends as files of the results do; write - in place of the last dot", c.Name)
	case again:
		r.Addf(there["name"], path+".name", "%q is the name of another configuration already", c.Name)
	}
	if there["spec"] == nil {
		r.Addf(n, path, "needs spec, a specification beside this file")
		return
	}
	var ok bool
	if c.Spec, ok = r.specification(there["spec"], path, file, set); !ok {
		return
	}
	if len(spec.Configurations) > 0 && !slices.Equal(c.Spec.Data.Files, spec.Configurations[0].Spec.Data.Files) {
		r.Addf(there["spec"], path+".spec", "its table is %s, that of %s %s; an experiment has one table", strings.Join(c.Spec.Data.Files, ", "),
			spec.Configurations[0].Name, strings.Join(spec.Configurations[0].Spec.Data.Files, ", "))
	}
	if len(spec.Configurations) > 0 && c.Spec.Data.Target != spec.Configurations[0].Spec.Data.Target {
		r.Addf(there["spec"], path+".spec", "its target is %s, that of %s %s; their measures do not compare", c.Spec.Data.Target, spec.Configurations[0].Name, spec.Configurations[0].Spec.Data.Target)
	}
	if c.Tune != nil && len(r.Problems) == before {
		if err := search.CheckObjective(c.Spec, c.Tune.Objective); err != nil {
			r.Addf(tuned, path+".tune.objective", "%v", err)
		}
	}
	spec.Configurations = append(spec.Configurations, c)
}

func (r *reader) tune(n ast.Node, path string) *Tune {
	t := &Tune{Objective: "r2", Sampler: "tpe"}
	splits, trials := "first", uint64(20)
	there := r.keys(n, path, map[string]func(ast.Node, string){
		"trials": r.count(&trials), "objective": r.text(&t.Objective), "sampler": r.text(&t.Sampler), "halving": r.text(&t.Halving), "splits": r.text(&splits),
	})
	t.Trials = int(trials)
	r.oneOf(there["objective"], path+".objective", t.Objective, search.Objectives())
	r.oneOf(there["sampler"], path+".sampler", t.Sampler, tune.Samplers())
	if err := search.CheckHalving(cmp.Or(t.Halving, "auto")); err != nil {
		r.Addf(there["halving"], path+".halving", "%v", err)
	}
	r.oneOf(there["splits"], path+".splits", splits, []string{"first", "each"})
	t.Each = splits == "each"
	return t
}

// specification reads the file of a configuration and sets what overrides it.
func (r *reader) specification(n ast.Node, path, file string, set ast.Node) (spec.Spec, bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.folder, file)
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Addf(n, path+".spec", "there is no specification %s", file)
		return spec.Spec{}, false
	case err != nil:
		r.Addf(n, path+".spec", "%v", err)
		return spec.Spec{}, false
	}
	spec, _, err := spec.Parse(text, file)
	if err != nil {
		r.adopt(nil, "", err)
		return spec, false
	}
	before := len(r.Problems)
	if set != nil {
		r.set(set, path+".set", &spec)
	}
	spec.Fill()
	if err := spec.Validate(); err != nil && len(r.Problems) == before {
		r.adopt(n, path+": ", err)
	}
	if len(spec.Data.Files) == 0 || slices.Contains(spec.Data.Files, "-") {
		r.Addf(n, path+".spec", "%s names no table in a file; every cell reads it", file)
	}
	return spec, len(r.Problems) == before
}

// set overrides fields of a specification by their dotted names.
func (r *reader) set(n ast.Node, path string, spec *spec.Spec) {
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "needs keys with values, such as {fit.sweeps: 20}")
		return
	}
	for key, entry := range r.Entries(m, path+".") {
		if key == "split" || key == "seed" {
			r.Addf(entry.Key, path+"."+key, "is the same for all configurations; it stands above them, as split and seeds")
			continue
		}
		var values []string
		_, isList := entry.Value.(*ast.SequenceNode)
		if isList {
			values = r.Texts(entry.Value, path+"."+key)
		} else if text, ok := specfile.Scalar(entry.Value); ok {
			values = []string{text}
		} else {
			r.Addf(entry.Value, path+"."+key, "needs a value or a list of them; sections are written with dots, as in fit.sweeps")
			continue
		}
		if err := spec.Set(key, isList, values...); err != nil {
			r.adopt(entry.Key, path+".", err)
		}
	}
}

// adopt takes over problems of a specification; those without a place have that of
// the node.
func (r *reader) adopt(n ast.Node, prefix string, err error) {
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
