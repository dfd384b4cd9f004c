package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/tune"
)

// partedSales returns a table with a column of parts. change can modify the targets of its
// test rows.
func partedSales(t *testing.T, change func(targets []string)) string {
	t.Helper()
	var text bytes.Buffer
	if err := synthetic.New(smallSales).WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	target := len(rows[0]) - 1
	var test []int
	var targets []string
	rows[0] = append(rows[0], "part")
	for i := 1; i < len(rows); i++ {
		part := []string{"train", "train", "train", "valid", "test"}[i%5]
		if part == "test" {
			test, targets = append(test, i), append(targets, rows[i][target])
		}
		rows[i] = append(rows[i], part)
	}
	change(targets)
	for k, i := range test {
		rows[i][target] = targets[k]
	}
	var out strings.Builder
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var tuneFlags = []string{"tune", "sales.csv", "--target", "units", "--modes", "store,item,time=year+month", "--split", "column:part",
	"--rank", "2", "--sweeps", "2", "--transform", "auto", "--objective", "mae", "--quiet"}

// studied returns the exported study, and its trials without times and workers.
func studied(t *testing.T) (record tune.Record, trials string) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, "study", "export").stdout), &record); err != nil {
		t.Fatal(err)
	}
	for _, trial := range record.Trials {
		for i := range trial.Rungs {
			trial.Rungs[i].Seconds = 0
		}
		trials += fmt.Sprintln(trial.Number, trial.State, *trial.Score, trial.Values, trial.Rungs)
	}
	return record, trials
}

func TestTuneIgnoresTestTargets(t *testing.T) {
	for _, halving := range []string{"none", "both"} {
		t.Run(halving, func(t *testing.T) { tuneIgnoresTestTargets(t, halving) })
	}
}

func tuneIgnoresTestTargets(t *testing.T, halving string) {
	search := func(change func([]string)) (record tune.Record, trials, best string) {
		inEmptyFolder(t)
		write(t, "sales.csv", partedSales(t, change))
		must(t, append(tuneFlags, "--trials", "14", "--halving", halving)...)
		record, trials = studied(t)
		return record, trials, read(t, "best.yaml")
	}
	shuffled := 0
	a, trialsA, bestA := search(func([]string) {})
	b, trialsB, bestB := search(func(targets []string) {
		randstream.New(1, "test").Shuffle(len(targets), func(i, j int) {
			if targets[i] != targets[j] {
				shuffled++
			}
			targets[i], targets[j] = targets[j], targets[i]
		})
	})
	if shuffled < 20 || a.Fact("table") == b.Fact("table") {
		t.Fatal("the tables do not differ")
	}
	if pruned := strings.Contains(trialsA, "pruned"); pruned != (halving == "both") {
		t.Errorf("halving %s:\n%s", halving, trialsA)
	}
	if a.Best.Number != b.Best.Number || trialsA != trialsB || bestA != bestB {
		t.Errorf("other test targets changed the best trial or the scores: got trial %d, want %d:\n%s\n%s", b.Best.Number, a.Best.Number, trialsA, trialsB)
	}
	if !strings.Contains(bestA, "terms:") || strings.Contains(bestA, "transform: auto") {
		t.Errorf("the best specification:\n%s", bestA)
	}
}

// tune varies what the section search lists; fit ignores the section.
func TestSearchSection(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	const spec = "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item, time=year+month]}\nsplit: column:part\nterms: ['store,item,time:2']\nfit: {sweeps: 2}\n"
	write(t, "kft.yaml", spec+"search:\n  rank.1: fixed\n  order.1: fixed\n  lambda: 0.1..10\n  transform: [log1p, sqrt]\n  cgsteps: 3\n")
	if got := must(t, "spec").stdout; !strings.Contains(got, "search: ") || !strings.Contains(got, "lambda: ['0.1..10']") {
		t.Error(got)
	}
	must(t, "tune", "--quiet", "--trials", "6")
	record, trials := studied(t)
	if got := record.Parameters(); !slices.Equal(got, []string{"transform", "cg-steps", "lambda"}) || record.Trials[0].Values["transform"] != "log1p" || strings.Contains(trials, "cg-steps:6") {
		t.Errorf("%v\n%s", got, trials)
	}
	if best := read(t, "best.yaml"); strings.Contains(best, "search") || !strings.Contains(best, "cg-steps: 3") || strings.Contains(best, "lambda: auto") {
		t.Error(best)
	}
	must(t, "fit", "--quiet", "-o", "a.kft")
	write(t, "kft.yaml", spec)
	must(t, "fit", "--quiet", "-o", "b.kft")
	if read(t, "a.kft") != read(t, "b.kft") {
		t.Error("the section search changes a fit")
	}
	write(t, "kft.yaml", spec+"search: {rank.2: 4}\n")
	if r := call(t, "tune"); r.code != exitUsage || !strings.Contains(r.stderr, `search.rank.2: unknown parameter (did you mean "rank.1"?)`) {
		t.Errorf("exit %d: %s", r.code, r.stderr)
	}
}

// A study that was interrupted and resumed equals one without interruption.
func TestTuneResumes(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	must(t, append(tuneFlags, "--trials", "12")...)
	_, whole := studied(t)

	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	loud := slices.Clip(tuneFlags[:len(tuneFlags)-1])
	var stdout bytes.Buffer
	seen := &cancelAfter{lines: 5, cancel: cancel}
	if code := run(ctx, append(loud, "--trials", "12"), strings.NewReader(""), &stdout, seen); code != exitFailed || !strings.Contains(seen.String(), "interrupted: finished trials are kept in study.db") {
		t.Fatalf("exit %d\n%s", code, seen.String())
	}
	must(t, append(tuneFlags, "--trials", "12", "--resume")...)
	if _, pieces := studied(t); pieces != whole {
		t.Errorf("got (resumed)\n%s, want (uninterrupted)\n%s", pieces, whole)
	}
}

// cancelAfter is a writer that cancels after a number of lines.
type cancelAfter struct {
	bytes.Buffer
	lines  int
	cancel func()
}

func (c *cancelAfter) Write(p []byte) (int, error) {
	if c.lines -= bytes.Count(p, []byte("\n")); c.lines <= 0 {
		c.cancel()
	}
	return c.Buffer.Write(p)
}

// A scale that does not allow the target is not tried, and a note says so.
func TestScalesOutsideOfTheDomain(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", strings.Replace(partedSales(t, func([]string) {}), "\n", "\n2022,1,S001,A0099,-5,train\n", 1))
	r := must(t, append(slices.Clone(tuneFlags[:len(tuneFlags)-1]), "--trials", "8")...) // without --quiet
	if !strings.Contains(r.stderr, "note: the search leaves out transform log1p, sqrt, cbrt1p: the target has the value -5") {
		t.Error(r.stderr)
	}
	if record, trials := studied(t); len(record.Trials) != 8 || strings.Contains(trials, "failed") || strings.Contains(trials, "sqrt") {
		t.Error(trials)
	}
}

// Trials that cannot be fitted fail, and the study continues: here those that repeat a
// term.
func TestFailedTrialsAreRecorded(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	write(t, "kft.yaml", "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item, time=year+month]}\nsplit: column:part\n"+
		"terms: ['store,item,time:2', 'item,store,time:2']\norder: auto\nfit: {sweeps: 2}\nsearch: {rank.1: fixed, rank.2: fixed, order.2: fixed, term.2: fixed}\n")
	must(t, "tune", "--quiet", "--trials", "8", "--objective", "mae")
	rows, err := csv.NewReader(strings.NewReader(must(t, "study", "export", "--format", "csv").stdout)).ReadAll()
	if err != nil || len(rows) != 9 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	count := map[string]int{}
	for _, r := range rows[1:] {
		possible, state := r[column["order.1"]] != "item,store,time", r[column["state"]]
		count[state]++
		if possible != (state == "done") || possible != (r[column["score"]] != "") || possible != (r[column["problem"]] == "") {
			t.Errorf("%q", r)
		}
	}
	if count["done"] == 0 || count["failed"] == 0 {
		t.Errorf("%v", count)
	}
	if shown := must(t, "study", "show").stdout; !strings.Contains(shown, "failed") || !strings.Contains(shown, "\nbest: trial ") {
		t.Error(shown)
	}
}

// Invalid locations of studies are errors before any work, and the errors do not contain
// passwords.
func TestInvalidStudyLocations(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	write(t, "empty.db", "")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the output":     {append(tuneFlags, "--study", "new.yaml", "-o", "./new.yaml"), "cannot contain both the study and the best specification"},
		"another server": {append(tuneFlags, "--study", "mysql://u:secret@h/db"), "invalid location of a study, mysql:"},
		"another case":   {[]string{"study", "show", "Postgres://u:secret@h/db"}, "invalid location of a study, Postgres:"},
		"missing slash":  {[]string{"plot", "study", "postgres:/u:secret@h/db"}, "invalid location of a study, postgres:"},
		"empty":          {append(tuneFlags, "--study", ""), "is not a location of a study"},
		"libpq":          {append(tuneFlags, "--study", "host=nowhere.invalid dbname=kft password=secret sslmode=bad"), "password=xxxxx sslmode=bad: invalid connection string"},
		"a folder":       {[]string{"study", "show", "."}, ". is a folder"},
		"an empty file":  {[]string{"study", "export", "empty.db"}, "the file is empty"},
	} {
		if got := call(t, c.args...); got.code == 0 || !strings.Contains(got.stderr, c.want) || strings.Contains(got.stderr, "secret") {
			t.Errorf("%s: %d, %s", name, got.code, got.stderr)
		}
	}
	if found, err := filepath.Glob("host=*"); err != nil || len(found) > 0 {
		t.Errorf("a connection string was taken for a file: %v, %v", found, err)
	}
	if text := read(t, "empty.db"); text != "" {
		t.Error("reading an empty file changed it")
	}
}

// Names of modes and of parameters can contain spaces.
func TestModesWithSpaces(t *testing.T) {
	inEmptyFolder(t)
	write(t, "sales.csv", partedSales(t, func([]string) {}))
	write(t, "stores.csv", "the store,area\nS001,1\nS002,2\n")
	must(t, "tune", "sales.csv", "--target", "units", "--modes", "the store=store,the item=item,time=year+month", "--rank", "2", "--sweeps", "2",
		"--side", "the store=stores.csv", "--side", "time=@month:cycle12", "--trials", "3", "--quiet")
	for _, format := range []string{"json", "csv", "optuna"} {
		if out := must(t, "study", "export", "--format", format).stdout; !strings.Contains(out, "side.the store") {
			t.Errorf("%s: %s", format, out)
		}
	}
}

// The result of a search and the list of its trials name the terms that are used.
func TestTuneNamesTerms(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	tuned := must(t, slices.Concat([]string{"tune", "sales.csv", "--term", "store,item:1", "--term", "time", "--sweeps", "2", "--trials", "1", "--quiet"}, salesFlags)...).stdout
	if want := "\nModel: store,item:1 + time; scale log1p\n"; !strings.Contains(tuned, want) {
		t.Errorf("kft tune printed\n%swant%s", tuned, want)
	}
	if shown, want := must(t, "study", "show").stdout, "\nterms: term.2 time\n"; !strings.Contains(shown, want) {
		t.Errorf("kft study show printed\n%swant%s", shown, want)
	}
}
