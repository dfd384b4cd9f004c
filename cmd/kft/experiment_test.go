package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/experiment"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/tune"
)

// inExperiment changes to a folder with a table, its specification and an experiment.
func inExperiment(t *testing.T, sales synthetic.Options, text string) {
	t.Helper()
	inEmptyFolder(t)
	writeSales(t, "sales.csv", sales)
	must(t, "init", "sales.csv", "--target", "units", "--modes", "store,item,time=year+month")
	write(t, "x.yaml", text)
}

const smallExperiment = `version: 1
output: results/small
split: 'random:60/20/20'
seeds: [3, 4]
configurations:
  - {name: plain, spec: kft.yaml, set: {terms: ['store,item,time:2'], fit.sweeps: 3}}
  - {name: tuned, spec: kft.yaml, set: {terms: ['store,item,time:2'], fit.sweeps: 3}, tune: {trials: 2}}
  - {name: no-column, spec: kft.yaml, set: {data.modes: [store, item, time=year+month, one], terms: ['store,item:2']}}
against: plain
measures: [r2, seconds]
`

// A result equals that of kft fit with the same split and seed, with time and memory. The
// table names failed fits.
func TestExperiment(t *testing.T) {
	inExperiment(t, smallSales, smallExperiment)
	r := call(t, "experiment", "x.yaml")
	if r.code != exitFailed || !strings.Contains(r.stderr, "2 of 6 cells failed; the same command repeats them") {
		t.Fatalf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, want := range []string{"Mean and standard deviation over 2 splits", "Minus plain, on the same splits", "failed: no-column, split 1: sales.csv"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("the table has no %q:\n%s", want, r.stdout)
		}
	}
	for _, want := range []string{"trial 2, 2 of 2", "cell 1 of 6: plain, split 1: R2 ", "cell 3 of 6: no-column, split 1: failed: "} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in\n%s", want, r.stderr)
		}
	}
	table := must(t, "experiment", "table", "results/small").stdout
	if got := must(t, "experiment", "table", "x.yaml").stdout; got != table || !strings.HasSuffix(r.stdout, table) {
		t.Errorf("the table of the experiment file is\n%s\nwant that of its folder\n%s", got, table)
	}
	for _, c := range []struct{ args, want string }{
		{"experiment run", "no experiment file given"},
		{"experiment run x.yaml --spec y.yaml", "given twice"},
		{"experiment run y.yaml", "y.yaml: no such experiment file"},
	} {
		if r := call(t, strings.Fields(c.args)...); r.code != exitUsage || !strings.Contains(r.stderr, c.want) {
			t.Errorf("kft %s: exit %d\n%s", c.args, r.code, r.stderr)
		}
	}
	for _, file := range listing(t) {
		if strings.HasSuffix(file, ".kft") {
			t.Errorf("the model %s was kept", file)
		}
	}
	var cell experiment.Cell
	if err := json.Unmarshal([]byte(read(t, "results/small/cells/plain.2.json")), &cell); err != nil {
		t.Fatal(err)
	}
	if cell.Seconds <= 0 || cell.CPU <= 0 || cell.PeakRSS <= 0 || cell.Definition == "" {
		t.Errorf("%+v", cell.Usage)
	}
	// The times of trials are part of the time of tuning.
	var tuning experiment.Tuning
	if err := json.Unmarshal([]byte(read(t, "results/small/tuning/tuned.json")), &tuning); err != nil {
		t.Fatal(err)
	}
	store, err := tune.OpenStore(t.Context(), "results/small/tuning/tuned.db", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	trials, err := store.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seconds := 0.0
	for _, trial := range trials {
		seconds += trial.Ended.Sub(trial.Began).Seconds()
	}
	if seconds <= 0 || seconds > tuning.Seconds {
		t.Errorf("trials took %v s of the %v s of tuning", seconds, tuning.Seconds)
	}
	var report struct{ Test map[string]json.RawMessage }
	fitted := must(t, "fit", "--term", "store,item,time:2", "--sweeps", "3", "--seed", "4", "--json", "-q")
	if err := json.Unmarshal([]byte(fitted.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if got, want := string(cell.Test["r2"]), string(report.Test["r2"]); got != want || got == "" {
		t.Errorf("the cell has R2 %s, kft fit with the same split and seed %s", got, want)
	}
	must(t, "experiment", "table", "results/small", "--format", "latex", "--measures", "r2,mae", "--against", "tuned", "-o", "table.tex")
	if text := read(t, "table.tex"); !strings.Contains(text, `\begin{tabular}`) || !strings.Contains(text, "Minus tuned") {
		t.Error(text)
	}
}

// A killed run continues with the cell in which it was killed and keeps the finished ones.
func TestExperimentKilled(t *testing.T) {
	kft := program(t)
	inExperiment(t, mediumSales, `version: 1
output: results
split: 'random:60/20/20'
seeds: [1, 2]
configurations:
  - {name: a, spec: kft.yaml, set: {terms: ['store,item,time:6'], fit.sweeps: 8, fit.lambda: 1, fit.ridge: uniform}}
  - {name: b, spec: kft.yaml, set: {terms: ['store,item,time:5'], fit.sweeps: 8, fit.lambda: 1, fit.ridge: uniform}}
keep: yes
`)
	command := func() *exec.Cmd { return exec.Command(kft, "experiment", "--spec", "x.yaml") }
	if !killedAfter(t, command(), 2) {
		t.Fatal("the experiment ended before it was killed")
	}
	done := []string{"results/cells/a.1.json", "results/cells/b.1.json"}
	if files, _ := filepath.Glob("results/cells/*"); fmt.Sprint(files) != fmt.Sprint(done) {
		t.Errorf("after two cells there are %v", files)
	}
	before := read(t, done[0]) + read(t, done[1])
	out, err := command().CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if read(t, done[0])+read(t, done[1]) != before {
		t.Error("finished cells were repeated")
	}
	for _, want := range []string{"cell 2 of 4: b, split 1: already done", "cell 3 of 4: a, split 2: R2"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if _, err := os.Stat("results/models/b.2.kft"); err != nil {
		t.Error("no model was kept:", err)
	}
}

func TestExperimentWrongCalls(t *testing.T) {
	inExperiment(t, smallSales, "version: 1\noutput: kft.yaml/x\nsplit: 'random:60/20/20'\nseeds: [1]\nconfigurations:\n  - {name: a, spec: kft.yaml}\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"experiment"}, exitUsage, "no experiment file given"},
		{[]string{"experiment", "--spec", "none.yaml"}, exitUsage, "no such experiment file"},
		{[]string{"experiment", "--spec", "kft.yaml"}, exitUsage, "unknown key"},
		{[]string{"experiment", "--spec", "x.yaml"}, exitFailed, "output: the folder kft.yaml/x cannot be created"},
		{[]string{"experiment", "table", "none"}, exitFailed, "no experiment results here"},
		{[]string{"experiment", "table", ".", "--format", "latx"}, exitUsage, `did you mean "latex"`},
		{[]string{"experiment", "table", ".", "--measures", "r1"}, exitUsage, `did you mean "r2"`},
	} {
		if r := call(t, c.args...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("kft %s: exit %d, %s", textformat.QuoteAll(c.args), r.code, r.stderr)
		}
	}
}
