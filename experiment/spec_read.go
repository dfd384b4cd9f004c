package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

// version of the format.
const version = "1"

// A reader makes an experiment of a syntax tree and collects what is wrong, with
// its place.
type reader struct {
	file, folder string
	problems     model.Problems
}

func (r *reader) addf(n ast.Node, path, format string, args ...any) {
	p := model.Problem{File: r.file, Path: path, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	r.problems = append(r.problems, p)
}

// keys hands the values of a mapping to those who know the keys, and returns the
// nodes that were there by key.
func (r *reader) keys(n ast.Node, path string, known map[string]func(n ast.Node, path string)) map[string]ast.Node {
	there := map[string]ast.Node{}
	m := model.MappingOf(n)
	if m == nil {
		r.addf(n, path, "needs keys with values")
		return there
	}
	names := slices.Sorted(maps.Keys(known))
	for _, entry := range m.Values {
		key, isText := model.ScalarOf(entry.Key)
		read := known[key]
		here := join(path, key)
		switch {
		case !isText:
			r.addf(entry.Key, path, "a key must be a plain word")
		case read == nil:
			hint := nearest.Hint(key, names)
			if hint == "" {
				hint = "; there are " + strings.Join(names, ", ")
			}
			r.addf(entry.Key, here, "unknown key%s", hint)
		default:
			there[key] = entry.Value
			read(entry.Value, here)
		}
	}
	return there
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// list hands on the elements of a list.
func (r *reader) list(n ast.Node, path string, element func(n ast.Node, path string)) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		r.addf(n, path, "is a list; write each value on a line of its own after a dash, or all in [ ]")
		return
	}
	for i, v := range seq.Values {
		element(v, fmt.Sprintf("%s[%d]", path, i))
	}
}

// text reads one value.
func (r *reader) text(to *string) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, ok := model.ScalarOf(n)
		if !ok || text == "" {
			r.addf(n, path, "needs one value")
		}
		*to = text
	}
}

// count reads a whole number from 1 on.
func (r *reader) count(to *uint64) func(ast.Node, string) {
	return func(n ast.Node, path string) {
		text, _ := model.ScalarOf(n)
		v, err := strconv.ParseUint(text, 10, 32)
		if err != nil || v < 1 {
			r.addf(n, path, "%q is not a whole number, 1 or more", text)
		}
		*to = v
	}
}

// oneOf refuses a value that is not among those allowed.
func (r *reader) oneOf(n ast.Node, path, value string, allowed []string) {
	if n != nil && !slices.Contains(allowed, value) {
		r.addf(n, path, "%q is not known%s; use one of %s", value, nearest.Hint(value, allowed), strings.Join(allowed, ", "))
	}
}

func (r *reader) experiment(root ast.Node) Spec {
	spec := Spec{Measures: DefaultMeasures()}
	var versionText, output, split, keep string
	var seeds []uint64
	there := r.keys(root, "", map[string]func(ast.Node, string){
		"version": r.text(&versionText), "name": r.text(&spec.Name), "output": r.text(&output), "keep": r.text(&keep), "against": r.text(&spec.Against), "split": r.text(&split),
		"seeds": func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) {
				var seed uint64
				r.count(&seed)(n, path)
				seeds = append(seeds, seed)
			})
		},
		"splits": func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) { spec.Splits = append(spec.Splits, r.split(n, path)) })
		},
		"configurations": func(n ast.Node, path string) {
			r.list(n, path, func(n ast.Node, path string) { r.configuration(n, path, &spec) })
		},
		"measures": func(n ast.Node, path string) {
			spec.Measures = nil
			r.list(n, path, func(n ast.Node, path string) { spec.Measures = append(spec.Measures, r.measure(n, path)) })
		},
	})
	if there["version"] == nil || versionText != version {
		r.addf(there["version"], "version", "write version: %s, of this format", version)
	}
	spec.Output = Folder(output)
	if there["output"] == nil {
		r.addf(nil, "output", "missing; name the folder of the results, such as results/%s", orName(spec.Name))
	}
	if there["splits"] != nil && (there["split"] != nil || there["seeds"] != nil) {
		r.addf(there["splits"], "splits", "give either splits, or split with seeds")
	}
	if there["split"] != nil {
		r.checkSplit(there["split"], "split", split)
		if len(seeds) == 0 {
			r.addf(there["split"], "split", "needs seeds, such as seeds: [1, 2, 3, 4, 5]")
		}
		for _, seed := range seeds {
			spec.Splits = append(spec.Splits, Split{split, seed})
		}
	}
	if len(spec.Splits) == 0 && there["split"] == nil && there["splits"] == nil {
		r.addf(nil, "splits", "none given; write split: 'random:60/20/20' and seeds: [1, 2, 3], or a list splits")
	}
	r.checkRepeated(spec.Splits)
	if len(spec.Configurations) == 0 && len(r.problems) == 0 {
		r.addf(nil, "configurations", "none given; name at least one, with its spec")
	}
	if there["against"] != nil && len(r.problems) == 0 {
		var names []string
		for _, c := range spec.Configurations {
			names = append(names, c.Name)
		}
		r.oneOf(there["against"], "against", spec.Against, names)
	}
	if len(spec.Measures) == 0 {
		r.addf(there["measures"], "measures", "is empty; leave it out for %s", strings.Join(DefaultMeasures(), ", "))
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
			r.addf(nil, "splits", "%s with seed %d is given twice, as split %d and %d", s.Split, s.Seed, j+1, i+1)
		}
	}
}

func (r *reader) split(n ast.Node, path string) Split {
	s := Split{Seed: 1}
	there := r.keys(n, path, map[string]func(ast.Node, string){"split": r.text(&s.Split), "seed": r.count(&s.Seed)})
	if there["split"] == nil {
		r.addf(n, path, "needs split, such as {split: 'random:60/20/20', seed: 1}")
		return s
	}
	r.checkSplit(there["split"], path+".split", s.Split)
	return s
}

func (r *reader) checkSplit(n ast.Node, path, split string) {
	if _, err := dataset.ParseSplit(split); err != nil {
		r.addf(n, path, "%v", err)
	}
}

func (r *reader) measure(n ast.Node, path string) string {
	var name string
	r.text(&name)(n, path)
	if err := CheckMeasure(name); err != nil {
		r.addf(n, path, "%v", err)
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
	before := len(r.problems)
	var tuned ast.Node
	there := r.keys(n, path, map[string]func(ast.Node, string){
		"name": r.text(&c.Name), "spec": r.text(&file),
		"set":  func(n ast.Node, path string) { set = n },
		"tune": func(n ast.Node, path string) { tuned = n; c.Tune = r.tune(n, path) },
	})
	switch again := slices.ContainsFunc(spec.Configurations, func(o Configuration) bool { return o.Name == c.Name }); {
	case there["name"] == nil:
		r.addf(n, path, "needs a name")
	case !fileName.MatchString(c.Name):
		r.addf(there["name"], path+".name", "%q cannot be the name of a file; use letters, digits and . _ + = -", c.Name)
	case takenName.MatchString(c.Name):
		r.addf(there["name"], path+".name", "%q ends as files of the results do; write - in place of the last dot", c.Name)
	case again:
		r.addf(there["name"], path+".name", "%q is the name of another configuration already", c.Name)
	}
	if there["spec"] == nil {
		r.addf(n, path, "needs spec, a specification beside this file")
		return
	}
	var ok bool
	if c.Spec, ok = r.specification(there["spec"], path, file, set); !ok {
		return
	}
	if len(spec.Configurations) > 0 && !slices.Equal(c.Spec.Data.Files, spec.Configurations[0].Spec.Data.Files) {
		r.addf(there["spec"], path+".spec", "its table is %s, that of %s %s; an experiment has one table", strings.Join(c.Spec.Data.Files, ", "),
			spec.Configurations[0].Name, strings.Join(spec.Configurations[0].Spec.Data.Files, ", "))
	}
	if len(spec.Configurations) > 0 && c.Spec.Data.Target != spec.Configurations[0].Spec.Data.Target {
		r.addf(there["spec"], path+".spec", "its target is %s, that of %s %s; their measures do not compare", c.Spec.Data.Target, spec.Configurations[0].Name, spec.Configurations[0].Spec.Data.Target)
	}
	if c.Tune != nil && len(r.problems) == before {
		if err := kft.CheckObjective(c.Spec, c.Tune.Objective); err != nil {
			r.addf(tuned, path+".tune.objective", "%v", err)
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
	r.oneOf(there["objective"], path+".objective", t.Objective, kft.Objectives())
	r.oneOf(there["sampler"], path+".sampler", t.Sampler, tune.Samplers())
	if err := kft.CheckHalving(cmp.Or(t.Halving, "auto")); err != nil {
		r.addf(there["halving"], path+".halving", "%v", err)
	}
	r.oneOf(there["splits"], path+".splits", splits, []string{"first", "each"})
	t.Each = splits == "each"
	return t
}

// specification reads the file of a configuration and sets what overrides it.
func (r *reader) specification(n ast.Node, path, file string, set ast.Node) (model.Spec, bool) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.folder, file)
	}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.addf(n, path+".spec", "there is no specification %s", file)
		return model.Spec{}, false
	case err != nil:
		r.addf(n, path+".spec", "%v", err)
		return model.Spec{}, false
	}
	spec, err := model.Parse(text, file)
	if err != nil {
		r.adopt(nil, "", err)
		return spec, false
	}
	before := len(r.problems)
	if set != nil {
		r.set(set, path+".set", &spec)
	}
	spec.Fill()
	if err := spec.Validate(); err != nil && len(r.problems) == before {
		r.adopt(n, path+": ", err)
	}
	if len(spec.Data.Files) == 0 || slices.Contains(spec.Data.Files, "-") {
		r.addf(n, path+".spec", "%s names no table in a file; every cell reads it", file)
	}
	return spec, len(r.problems) == before
}

// set overrides fields of a specification by their dotted names.
func (r *reader) set(n ast.Node, path string, spec *model.Spec) {
	m := model.MappingOf(n)
	if m == nil {
		r.addf(n, path, "needs keys with values, such as {fit.sweeps: 20}")
		return
	}
	for _, entry := range m.Values {
		key, _ := model.ScalarOf(entry.Key)
		if key == "split" || key == "seed" {
			r.addf(entry.Key, path+"."+key, "is the same for all configurations; it stands above them, as split and seeds")
			continue
		}
		var values []string
		seq, isList := entry.Value.(*ast.SequenceNode)
		if isList {
			for _, v := range seq.Values {
				text, ok := model.ScalarOf(v)
				if !ok {
					r.addf(v, path+"."+key, "needs texts (one with a colon or a comma needs quotes)")
				}
				values = append(values, text)
			}
		} else if text, ok := model.ScalarOf(entry.Value); ok {
			values = []string{text}
		} else {
			r.addf(entry.Value, path+"."+key, "needs a value or a list of them; sections are written with dots, as in fit.sweeps")
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
	var problems model.Problems
	if !errors.As(err, &problems) {
		r.addf(n, strings.TrimSuffix(prefix, "."), "%v", err)
		return
	}
	for _, p := range problems {
		if p.File != "" {
			r.problems = append(r.problems, p)
			continue
		}
		r.addf(n, prefix+p.Path, "%s", p.Message)
	}
}
