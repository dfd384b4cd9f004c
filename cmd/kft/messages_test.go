package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Messages for programs keep the fields of a specification, and unknown flags have no hints.
func TestJSONMessagesKeepFields(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--term", "store", "--term", "time", "--sweeps", "2", "--inference", "mean-field", "-q")...)
	if r := must(t, "forecast", "model.kft", "--horizon", "2", "-o", "f.csv", "-q", messagesFlag); !strings.Contains(r.stderr, `in side.tables"`) {
		t.Errorf("got\n%s\nwant a warning that names side.tables only", r.stderr)
	}
	if r := call(t, "fit", "sales.csv", "--horizon", "2", messagesFlag); !strings.Contains(r.stderr, `"unknown flag --horizon (see kft fit --help)"`) {
		t.Errorf("got\n%s\nwant no hint", r.stderr)
	}
}

// With --messages=json every line of standard error is a JSON object, and errors say
// what programs need to know.
func TestJSONMessages(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "hole.csv", "store,item,units\na,x,1\n,y,2\nb,x,3\nb,y,4\n")
	modes := "--modes=store,item,time=year+month"
	for _, c := range []struct {
		args                []string
		code, field, column string
		line                int
		says                string
	}{
		{args: []string{"fit", "sales.csv", "--target=units", modes, "--rank=1", "-o", "m.kft"}},
		{args: []string{"nothing"}, code: "usage", says: "unknown command"},
		{args: []string{"fit", "sales.csv", "--sweep=3"}, code: "usage", says: "--sweep"},
		{args: []string{"fit", "sales.csv", "--target=units", modes, "--rank=1", "--solver=x"}, code: "specification", field: "fit.solver", says: `unknown value "x"`},
		{args: []string{"fit", "sales.csv", "--target=units", "--modes=store,thing", "--rank=1"}, code: "unknown_column", field: "data.modes", column: "thing", says: "choose one of"},
		{args: []string{"fit", "hole.csv", "--target=units", "--modes=store,item", "--rank=1"}, code: "input", field: "data.modes", column: "store", line: 3, says: "hole.csv"},
		{args: []string{"fit", "none.csv", "--target=units", modes, "--rank=1"}, code: "missing_file", says: "none.csv"},
		{args: []string{"inspect", "sales.csv.none"}, code: "missing_file", says: "sales.csv.none"},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := call(t, append(c.args, messagesFlag)...)
			var last message
			seen := map[string]bool{}
			for line := range strings.Lines(r.stderr) {
				last = message{}
				if err := json.Unmarshal([]byte(line), &last); err != nil {
					t.Fatalf("%v: %q", err, line)
				}
				seen[last.Type] = true
			}
			if c.code == "" {
				if r.code != exitGood || !seen["progress"] || seen["error"] {
					t.Errorf("got exit %d with messages %v:\n%s", r.code, seen, r.stderr)
				}
				return
			}
			want := message{Type: "error", errorPlace: errorPlace{Code: c.code, Field: c.field, Column: c.column, Line: c.line}}
			text, file := last.Text, last.File
			last.Text, last.File = "", ""
			if r.code == exitGood || last != want || !strings.Contains(text+file, c.says) {
				t.Errorf("got exit %d and %+v (%s), want %+v", r.code, last, text, want)
			}
		})
	}
}
