package experiment

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// version of the format.
const version = "1"

// A reader turns a syntax tree into an experiment.
type reader struct {
	specfile.Reader
	folder   string   // of the specifications
	table    string   // current one of several tables, replaces {table} in names of specifications
	warnings []string // about deprecated keys and values, without duplicates
}

// A nodeReader reads the value of a key at a path.
type nodeReader = func(n ast.Node, path string)

// keys passes the value of each key of a mapping to its reader, and returns the nodes
// of the given keys.
func (r *reader) keys(n ast.Node, path string, readers map[string]nodeReader) (given map[string]ast.Node) {
	given = map[string]ast.Node{}
	m := specfile.Mapping(n)
	if m == nil {
		r.Addf(n, path, "must be a mapping of keys to values")
		return given
	}
	if path != "" {
		path += "."
	}
	names := slices.Sorted(maps.Keys(readers))
	for key, entry := range r.Entries(m, path) {
		read := readers[key]
		if read == nil {
			hint := cmp.Or(suggest.Hint(key, names), "; the keys are "+joined(names))
			r.Addf(entry.Key, path+key, "unknown key%s", hint)
			continue
		}
		given[key] = entry.Value
		read(entry.Value, path+key)
	}
	return given
}

// text returns a reader of one value.
func (r *reader) text(to *string) nodeReader {
	return func(n ast.Node, path string) {
		text, ok := specfile.Scalar(n)
		if !ok || text == "" {
			r.Addf(n, path, "must be a single value")
		}
		*to = text
	}
}

// count returns a reader of a whole number of 1 or more.
func (r *reader) count(to *uint64) nodeReader {
	return func(n ast.Node, path string) {
		text, _ := specfile.Scalar(n)
		v, err := strconv.ParseUint(text, 10, 32)
		if err != nil || v < 1 {
			r.Addf(n, path, "%q is not a whole number of 1 or more", text)
		}
		*to = v
	}
}

// oneOf adds a problem if a value is given and not allowed.
func (r *reader) oneOf(n ast.Node, path, value string, allowed []string) {
	if n != nil && !slices.Contains(allowed, value) {
		r.Addf(n, path, "unknown value %q%s; use one of %s", value, suggest.Hint(value, allowed), joined(allowed))
	}
}

func (r *reader) experiment(root ast.Node) Spec {
	exp := Spec{Measures: DefaultMeasures()}
	var versionText, output, splitText, keep string
	var seeds []uint64
	given := r.keys(root, "", map[string]nodeReader{
		"version": r.text(&versionText), "name": r.text(&exp.Name), "output": r.text(&output), "keep": r.text(&keep), "against": r.text(&exp.Against), "split": r.text(&splitText),
		"tables": func(ast.Node, string) {}, // see experiments
		"seeds": func(n ast.Node, path string) {
			for path, n := range r.Elements(n, path) {
				var seed uint64
				r.count(&seed)(n, path)
				seeds = append(seeds, seed)
			}
		},
		"splits": func(n ast.Node, path string) {
			for path, n := range r.Elements(n, path) {
				exp.Splits = append(exp.Splits, r.split(n, path))
			}
		},
		"configurations": func(n ast.Node, path string) {
			for path, n := range r.Elements(n, path) {
				r.configuration(n, path, &exp)
			}
		},
		"measures": func(n ast.Node, path string) {
			exp.Measures = nil
			for path, n := range r.Elements(n, path) {
				exp.Measures = append(exp.Measures, r.measure(n, path))
			}
		},
	})
	if given["version"] == nil || versionText != version {
		r.Addf(given["version"], "version", "must be %s, the version of this format", version)
	}
	exp.Output = Folder(output)
	if given["output"] == nil {
		r.Addf(nil, "output", "missing; name the folder of the results, such as results/%s", cmp.Or(exp.Name, "iowa"))
	}
	exp.Splits = append(exp.Splits, r.splitsBySeed(given, splitText, seeds)...)
	r.checkSplits(given, exp.Splits)
	if len(exp.Configurations) == 0 && len(r.Problems) == 0 {
		r.Addf(nil, "configurations", "missing; give at least one, with name and spec")
	}
	if given["against"] != nil && len(r.Problems) == 0 {
		r.oneOf(given["against"], "against", exp.Against, exp.names())
	}
	if len(exp.Measures) == 0 {
		r.Addf(given["measures"], "measures", "is empty; remove the key for the default, %s", joined(DefaultMeasures()))
	}
	exp.KeepModels = keep == "yes" || keep == "true"
	r.oneOf(given["keep"], "keep", keep, []string{"yes", "no", "true", "false"})
	return exp
}

// splitsBySeed returns one split per seed, for the keys split and seeds.
func (r *reader) splitsBySeed(given map[string]ast.Node, splitText string, seeds []uint64) []Split {
	if given["splits"] != nil && (given["split"] != nil || given["seeds"] != nil) {
		r.Addf(given["splits"], "splits", "give either splits, or split with seeds")
	}
	if given["split"] == nil {
		return nil
	}
	r.checkSplit(given["split"], "split", splitText)
	if len(seeds) == 0 {
		r.Addf(given["split"], "split", "needs seeds, such as seeds: [1, 2, 3, 4, 5]")
	}
	var splits []Split
	for _, seed := range seeds {
		splits = append(splits, Split{splitText, seed})
	}
	return splits
}

// checkSplits adds problems for missing splits and for splits that are given twice.
func (r *reader) checkSplits(given map[string]ast.Node, splits []Split) {
	if len(splits) == 0 && given["split"] == nil && given["splits"] == nil {
		r.Addf(nil, "splits", "missing; give split: 'random:60/20/20' and seeds: [1, 2, 3], or a list splits")
	}
	if list, isList := given["splits"].(*ast.SequenceNode); isList && len(list.Values) == 0 {
		r.Addf(list, "splits", "is empty; give at least one, such as {split: 'random:60/20/20', seed: 1}")
	}
	for i, s := range splits {
		if j := slices.Index(splits, s); j < i {
			r.Addf(nil, "splits", "%s with seed %d is given twice, as split %d and %d", s.Split, s.Seed, j+1, i+1)
		}
	}
}

func (r *reader) split(n ast.Node, path string) Split {
	s := Split{Seed: 1}
	given := r.keys(n, path, map[string]nodeReader{"split": r.text(&s.Split), "seed": r.count(&s.Seed)})
	if given["split"] == nil {
		r.Addf(n, path, "needs split, such as {split: 'random:60/20/20', seed: 1}")
		return s
	}
	r.checkSplit(given["split"], path+".split", s.Split)
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
