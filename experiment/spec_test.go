package experiment

import (
	"os"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	setup(t)
	spec := load(t, `version: 1
name: x
output: out
splits:
  - {split: 'file:parts.csv', seed: 1}
  - {split: 'random:60/20/20', seed: 2}
configurations:
  - name: a
    spec: kft.yaml
    set: {transform: sqrt, terms: ['store,item:5', store], fit.lambda: auto, uncertainty.inference: mean-field}
  - {name: b, spec: kft.yaml, tune: {trials: 9, objective: mae, sampler: random, splits: each}}
keep: yes
`)
	a, b := spec.Configurations[0], spec.Configurations[1]
	if len(spec.Splits) != 2 || spec.Splits[1] != (Split{"random:60/20/20", 2}) || !spec.Keep || spec.Output != "out" || len(spec.Measures) == 0 {
		t.Errorf("%+v", spec)
	}
	if a.Spec.Transform != "sqrt" || len(a.Spec.Terms) != 2 || a.Spec.Fit.Solver != "cavi" || a.Tune != nil {
		t.Errorf("%+v", a)
	}
	if b.Spec.Transform != "identity" || b.Tune == nil || *b.Tune != (Tune{Trials: 9, Objective: "mae", Sampler: "random", Each: true}) {
		t.Errorf("%+v", b)
	}
}

// Every mistake is named, with its line.
func TestBadSpecs(t *testing.T) {
	setup(t)
	put(t, "specs/other.yaml", "version: 1\ndata: {files: [other.csv], target: units, modes: [store, item]}\n")
	put(t, "specs/bad.yaml", "version: 1\ndata: {files: [sales.csv], taget: units, modes: [store, item]}\n")
	head := "version: 1\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1]\n"
	good := "configurations:\n  - {name: a, spec: kft.yaml}\n"
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"- a\n", "key: value"},
		{head + good + "mesures: [r2]\n", `x.yaml:7:1: mesures: unknown key (did you mean "measures"?)`},
		{head + good + "name: a\nname: b\n", `x.yaml:8:1: not valid YAML: mapping key "name" already defined`},
		{head + good + "measures: [r4]\n", `x.yaml:7:12: measures[0]: "r4" is not a measure (did you mean "r2"?)`},
		{head + good + "against: aa\n", `against: "aa" is not known (did you mean "a"?)`},
		{head + good + "keep: perhaps\n", "keep"},
		{head, "configurations: none given"},
		{head + good + "  - {name: a, spec: kft.yaml}\n", `x.yaml:7:12: configurations[1].name: "a" is the name of another configuration`},
		{head + "configurations:\n  - {name: a/b, spec: kft.yaml}\n", "cannot be the name of a file"},
		{head + "configurations:\n  - {name: a.1, spec: kft.yaml}\n", "ends as files of the results do"},
		{head + "configurations:\n  - {name: a.best, spec: kft.yaml}\n", "ends as files of the results do"},
		{head + "configurations:\n  - {spec: kft.yaml}\n", "needs a name"},
		{head + "configurations:\n  - {name: a}\n", "needs spec"},
		{head + "configurations:\n  - {name: a, spec: none.yaml}\n", "x.yaml:6:21: configurations[0].spec: there is no specification specs/none.yaml"},
		{head + "configurations:\n  - {name: a, spec: bad.yaml}\n", `bad.yaml:2:28: data.taget: unknown key (did you mean "target"?)`},
		{head + good + "  - {name: b, spec: other.yaml}\n", "an experiment has one table"},
		{head + good + "  - {name: b, spec: kft.yaml, set: {data.target: price}}\n", "its target is price, that of a units"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {seed: 3}}\n", "configurations[0].set.seed: is the same for all configurations"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {fit.sweps: 3}}\n", `x.yaml:6:37: configurations[0].set.fit.sweps: unknown key (did you mean "sweeps"?)`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {transform: log}}\n", `transform: unknown value "log"`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {fit: {sweeps: 3}}}\n", "written with dots"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {trials: 0}}\n", "not a whole number"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {objective: elbo}}\n", "requires a posterior"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {sampler: tpes}}\n", `did you mean "tpe"`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {halving: sweps}}\n", "tune.halving"},
		{head + good + "measures: []\n", "measures: is empty"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {splits: all}}\n", "first, each"},
		{"version: 1\noutput: out\n" + good, "splits: none given"},
		{"version: 1\noutput: out\nsplits: [{seed: 3}]\n" + good, "needs split"},
		{"version: 1\noutput: out\nsplits: []\n" + good, "splits: is empty"},
		{"# nothing\n", "the experiment is empty; docs/concepts/experiments.md shows one"},
		{"version: 1\noutput: out\nsplits: [{split: 'random:60', seed: 1}]\n" + good, "splits[0].split"},
		{"version: 1\noutput: out\nsplit: 'random:60/20/20'\n" + good, "needs seeds"},
		{"version: 1\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1, 1]\n" + good, "given twice, as split 1 and 2"},
		{head + "splits: [{split: 'random:60/20/20'}]\n" + good, "either splits, or split with seeds"},
		{"version: 2\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1]\n" + good, "write version: 1"},
		{"version: 1\nsplit: 'random:60/20/20'\nseeds: [1]\n" + good, "output: missing"},
	} {
		put(t, "specs/x.yaml", c.text)
		if _, err := Load("specs/x.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngives %v, not %s", c.text, err, c.want)
		}
	}
}

// An output that is a file, and a table that is not there.
func TestRunRefuses(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	put(t, "out", "a file")
	if _, _, err := start(t, spec, &fake{}); err == nil || !strings.Contains(err.Error(), "output: the folder out cannot be made") {
		t.Errorf("an output that is a file: %v", err)
	}
	spec.Output = "results"
	if err := os.Remove("sales.csv"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, spec, &fake{}); err == nil || !strings.Contains(err.Error(), "sales.csv") {
		t.Errorf("no table: %v", err)
	}
}
