package experiment

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

const twoTables = `version: 1
name: x
output: out
tables: [kft, other]
split: 'random:60/20/20'
seeds: [4, 5]
configurations:
  - {name: ours, spec: '{table}.yaml', set: {terms: ['store,item:2']}}
  - {name: former, spec: '{table}.yaml', set: {terms: ['store,item:3']}}
against: former
`

// An experiment on several tables runs each in a folder of its own, and continues.
func TestSeveralTables(t *testing.T) {
	setup(t)
	write(t, "other.csv", "shop,week,sales\na,b,1\n")
	write(t, "specs/other.yaml", "version: 1\ndata: {files: [other.csv], target: sales, modes: [shop, week]}\nterms: ['shop,week:2']\n")
	if _, err := Parse([]byte(twoTables), "specs/x.yaml"); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("got %v, want a message about the term of the other table's modes", err)
	}
	write(t, "specs/other.yaml", "version: 1\ndata: {files: [other.csv], target: sales, modes: [store=shop, item=week]}\n")
	exp := load(t, twoTables)
	f := &fakeRunner{}
	done, progress, err := start(t, exp, f)
	if err != nil || done != (Done{Cells: 8}) {
		t.Fatalf("got %+v, %v; want 8 cells", done, err)
	}
	if !slices.ContainsFunc(progress, func(line string) bool { return strings.HasPrefix(line, "other: cell 1 of 4: ours, split 1") }) {
		t.Errorf("got progress %q", progress)
	}
	f.calls = nil
	if _, _, err := start(t, exp, f); err != nil || len(f.calls) > 0 {
		t.Errorf("the second run called %v, %v", f.calls, err)
	}
	tables, err := ReadTables("out")
	if err != nil || len(tables) != 2 || tables[1].Plan.Name != "other" || len(tables[1].Cells) != 4 {
		t.Errorf("got %+v, %v; want 4 cells of the table other", tables, err)
	}
	if one, err := ReadTables("out/kft"); len(one) > 0 || err != nil {
		t.Errorf("got %v, %v for the folder of one table", one, err)
	}
}

func TestTablesProblems(t *testing.T) {
	setup(t)
	for _, c := range []struct{ tables, want string }{
		{"[]", "tables: is empty"},
		{"[kft, kft]", `"kft" is given twice`},
		{"[../kft]", "cannot be used as a file name"},
		{"[kft, missing]", "no such specification: specs/missing.yaml"},
	} {
		_, err := Parse([]byte(strings.Replace(twoTables, "[kft, other]", c.tables, 1)), "specs/x.yaml")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.tables, err, c.want)
		}
	}
}

// The verdict names what is behind. Counts are judged by the randomised PIT.
func TestLedgerVerdict(t *testing.T) {
	t.Parallel()
	cell := func(configuration string, split int, rmse, coverage string) Cell {
		return Cell{Configuration: configuration, Split: split, Formula: &Formula{Name: "mean", RMSE: 10, MAE: 10},
			Test: Measures{"n": json.RawMessage("2000"), "rmse": json.RawMessage(rmse), "mae": json.RawMessage("9"), "coverage90": json.RawMessage(coverage), "pit": json.RawMessage("[0.05, 0.9, 0.05]")}}
	}
	plan := Plan{Configurations: []string{"ours", "former"}, Splits: 2, Against: "former"}
	of := func(name string, cells ...Cell) Results {
		p := plan
		p.Name = name
		return Results{Plan: p, Cells: cells}
	}
	l := NewLedger([]Results{
		of("good", cell("ours", 1, "10.3", "0.9"), cell("ours", 2, "9.8", "0.9"), cell("former", 1, "11", "0.9"), cell("former", 2, "11", "0.9")),
		of("behind", cell("ours", 1, "10.3", "0.99"), cell("ours", 2, "10.1", "0.99"), cell("former", 1, "10", "0.9"), cell("former", 2, "10.2", "0.9")),
		of("failed", cell("ours", 1, "9", "0.9"), Cell{Configuration: "ours", Split: 2, Problem: "no memory"}),
		of("later"),
	})
	want := [][]string{nil, {"RMSE 2.0 % behind formula (2.0 SE)", "RMSE 1.0 % behind former (0.5 SE)", "coverage"}, {"ours failed on split 2"}, nil}
	for i, line := range l.Lines {
		if !slices.Equal(line.Verdict, want[i]) {
			t.Errorf("%s: got %q, want %q", line.Table, line.Verdict, want[i])
		}
	}
	if l.Behind() != 3 || math.Abs(l.Lines[0].Configurations[0].RMSE-10.05) > 1e-9 {
		t.Errorf("got %d behind, RMSE %v", l.Behind(), l.Lines[0].Configurations[0].RMSE)
	}
	var text strings.Builder
	if err := l.Write(&text, "markdown"); err != nil || !strings.Contains(text.String(), "| not measured |") || !strings.Contains(text.String(), "Ahead on 1 of 4 tables.") {
		t.Errorf("got %v\n%s", err, text.String())
	}
}
