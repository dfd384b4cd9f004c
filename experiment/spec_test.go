package experiment

import (
	"slices"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	setup(t)
	exp := load(t, `version: 1
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
	a, b := exp.Configurations[0], exp.Configurations[1]
	if len(exp.Splits) != 2 || exp.Splits[1] != (Split{"random:60/20/20", 2}) || !exp.KeepModels || exp.Output != "out" || len(exp.Measures) == 0 {
		t.Errorf("got experiment %+v", exp)
	}
	if a.Spec.Transform != "sqrt" || len(a.Spec.Terms) != 2 || a.Spec.Fit.Solver != "cavi" || a.Tune != nil {
		t.Errorf("got configuration %+v, want transform sqrt, 2 terms and solver cavi, without tuning", a)
	}
	if b.Spec.Transform != "auto" || b.Tune == nil || *b.Tune != (Tune{Trials: 9, Objective: "mae", Sampler: "random", Each: true}) {
		t.Errorf("got configuration %+v, want transform auto, tuned by 9 random trials on each split", b)
	}
}

// Every mistake is reported with its position.
func TestParseProblems(t *testing.T) {
	setup(t)
	write(t, "specs/other.yaml", "version: 1\ndata: {files: [other.csv], target: units, modes: [store, item]}\n")
	write(t, "specs/bad.yaml", "version: 1\ndata: {files: [sales.csv], taget: units, modes: [store, item]}\n")
	head := "version: 1\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1]\n"
	good := "configurations:\n  - {name: a, spec: kft.yaml}\n"
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"- a\n", "key: value"},
		{head + good + "mesures: [r2]\n", `x.yaml:7:1: mesures: unknown key (did you mean "measures"?)`},
		{head + good + "name: a\nname: b\n", `x.yaml:8:1: not valid YAML: mapping key "name" already defined`},
		{head + good + "measures: [r4]\n", `x.yaml:7:12: measures[0]: unknown measure "r4" (did you mean "r2"?)`},
		{head + good + "against: aa\n", `against: unknown value "aa" (did you mean "a"?)`},
		{head + good + "keep: perhaps\n", "keep"},
		{head, "configurations: missing"},
		{head + good + "  - {name: a, spec: kft.yaml}\n", `x.yaml:7:12: configurations[1].name: "a" is also the name of another configuration`},
		{head + "configurations:\n  - {name: a/b, spec: kft.yaml}\n", "cannot be used as a file name"},
		{head + "configurations:\n  - {name: a.1, spec: kft.yaml}\n", "ends like a result file"},
		{head + "configurations:\n  - {name: a.best, spec: kft.yaml}\n", "ends like a result file"},
		{head + "configurations:\n  - {spec: kft.yaml}\n", "needs a name"},
		{head + "configurations:\n  - {name: a}\n", "needs spec"},
		{head + "configurations:\n  - {name: a, spec: none.yaml}\n", "x.yaml:6:21: configurations[0].spec: no such specification: specs/none.yaml"},
		{head + "configurations:\n  - {name: a, spec: bad.yaml}\n", `bad.yaml:2:28: data.taget: unknown key (did you mean "target"?)`},
		{head + good + "  - {name: b, spec: other.yaml}\n", "all configurations must use the same table"},
		{head + good + "  - {name: b, spec: kft.yaml, set: {data.target: price}}\n", "its target is price, and that of a is units"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {seed: 3}}\n", "configurations[0].set.seed: must be the same for all configurations"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {fit.sweps: 3}}\n", `x.yaml:6:37: configurations[0].set.fit.sweps: unknown key (did you mean "sweeps"?)`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {transform: log}}\n", `transform: unknown value "log"`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {fit: {sweeps: 3}}}\n", "write sections with dots"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {trials: 0}}\n", "not a whole number"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, set: {terms: [store]}, tune: {objective: elbo}}\n", `objective "elbo" requires a posterior`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {sampler: tpes}}\n", `did you mean "tpe"`},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {halving: sweps}}\n", "tune.halving"},
		{head + good + "measures: []\n", "measures: is empty"},
		{head + "configurations:\n  - {name: a, spec: kft.yaml, tune: {splits: all}}\n", "first, each"},
		{"version: 1\noutput: out\n" + good, "splits: missing"},
		{"version: 1\noutput: out\nsplits: [{seed: 3}]\n" + good, "needs split"},
		{"version: 1\noutput: out\nsplits: []\n" + good, "splits: is empty"},
		{"# nothing\n", "the experiment is empty; docs/concepts/experiments.md shows an example"},
		{"version: 1\noutput: out\nsplits: [{split: 'random:60', seed: 1}]\n" + good, "splits[0].split"},
		{"version: 1\noutput: out\nsplit: 'random:60/20/20'\n" + good, "needs seeds"},
		{"version: 1\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1, 1]\n" + good, "given twice, as split 1 and 2"},
		{head + "splits: [{split: 'random:60/20/20'}]\n" + good, "either splits, or split with seeds"},
		{"version: 2\noutput: out\nsplit: 'random:60/20/20'\nseeds: [1]\n" + good, "version: must be 1"},
		{"version: 1\nsplit: 'random:60/20/20'\nseeds: [1]\n" + good, "output: missing"},
	} {
		write(t, "specs/x.yaml", c.text)
		if _, err := Load("specs/x.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot error %v, want %s", c.text, err, c.want)
		}
	}
}

// Warnings about deprecated keys and values come from the specifications and from the
// fields that a configuration sets, each once.
func TestWarnings(t *testing.T) {
	setup(t)
	write(t, "specs/old.yaml", "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item]}\nfit: {cgsteps: 5}\n")
	exp := load(t, `version: 1
output: out
split: 'random:60/20/20'
seeds: [1]
configurations:
  - {name: a, spec: old.yaml}
  - {name: b, spec: old.yaml, set: {uncertainty.inference: rows}}
`)
	want := []string{
		"specs/old.yaml:3: fit.cgsteps is deprecated; use fit.cg-steps",
		`specs/x.yaml: configurations[1].set.uncertainty.inference: rows is deprecated; use entity-covariance`,
	}
	if !slices.Equal(exp.Warnings, want) {
		t.Errorf("got warnings %q, want %q", exp.Warnings, want)
	}
	if got := exp.Configurations[1].Spec.Uncertainty.Inference; got != "entity-covariance" {
		t.Errorf("got inference %q, want entity-covariance", got)
	}
}
