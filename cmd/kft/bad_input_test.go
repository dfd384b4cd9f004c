package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const goodTable = "store,item,time,units\na,x,1,3\na,y,1,4\nb,x,1,5\nb,y,1,9\na,x,2,2\na,y,2,6\nb,x,2,4\nb,y,2,8\nc,x,2,1\nc,y,1,7\n"

// An invalid table is one line with location, problem and remedy, and exit code 1. There is
// no standard output and no new file.
func TestBadData(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(goodTable, old, new, 1) }
	compressed := gzipped(t, strings.Repeat(goodTable, 200))
	for _, c := range []struct {
		name  string
		file  string // content of the table
		as    string // name of the table; "" is sales.csv
		flags []string
		parts []string // of the message
	}{
		{name: "truncated gzip", as: "sales.csv.gz", file: compressed[:len(compressed)/2], parts: []string{"sales.csv.gz, line ", "truncated", "download it again"}},
		{name: "damaged gzip", as: "sales.csv.gz", file: compressed[:len(compressed)-6] + "xxxxxx", parts: []string{"sales.csv.gz", "damaged"}},
		{name: "too few fields", file: change("b,y,1,9\n", "b,y,1\n"), parts: []string{"sales.csv, line 5", "3 fields", "4"}},
		{name: "too many fields", file: change("b,y,1,9\n", "b,y,1,9,9\n"), parts: []string{"sales.csv, line 5", "5 fields"}},
		{name: "not a number", file: change("b,y,1,9\n", "b,y,1,nine\n"), parts: []string{"sales.csv, line 5", `column "units"`, `value "nine"`, "not a number", "leave it empty"}},
		{name: "NaN", file: change("b,y,1,9\n", "b,y,1,NaN\n"), parts: []string{"sales.csv, line 5", `column "units"`, `value "NaN"`, "leave it empty or write NA"}},
		{name: "infinity", file: change("b,y,1,9\n", "b,y,1,inf\n"), parts: []string{"line 5", `column "units"`, `"inf"`, "not finite"}},
		{name: "too large for a float32", file: change("b,y,1,9\n", "b,y,1,1e300\n"), parts: []string{"line 5", `"1e300"`, "exceeds the range of 32-bit numbers"}},
		{name: "all targets missing", file: "store,item,time,units\na,x,1,N/A\nb,y,2,\n", parts: []string{"sales.csv", `column "units"`, "missing in all 2 rows"}},
		{name: "empty file", file: "", parts: []string{"sales.csv", "empty", "give a table"}},
		{name: "header only", file: "store,item,time,units\n", parts: []string{"sales.csv", "no rows"}},
		{name: "missing column", file: change("units", "unit"), parts: []string{"sales.csv", `column "units"`, `did you mean "unit"?`, "choose one of"}},
		{name: "missing mode", file: goodTable, flags: []string{"--modes", "stroe,item,time"}, parts: []string{`column "stroe"`, `did you mean "store"?`}},
		{name: "empty id", file: change("b,y,1,9\n", ",y,1,9\n"), parts: []string{"sales.csv, line 5", `column "store"`}},
		{name: "column twice", file: change("store,item", "item,item"), parts: []string{"line 1", `column "item"`, "twice"}},
		{name: "one entity only", file: "store,item,time,units\na,x,1,3\na,y,2,4\na,x,2,5\na,z,1,7\na,z,2,2\n", parts: []string{`mode "store"`, "only one id", `"a"`, "remove it from data.modes (--modes)"}},
		{name: "constant target", file: strings.NewReplacer(",3\n", ",7\n", ",4\n", ",7\n", ",5\n", ",7\n", ",9\n", ",7\n", ",2\n", ",7\n", ",6\n", ",7\n", ",8\n", ",7\n", ",1\n", ",7\n").Replace(goodTable), parts: []string{"target is 7", "nothing to learn", "(--target sets it)"}},
		{name: "cell twice", file: goodTable + "a,x,1,4\n", parts: []string{"sales.csv, line 12", "store=a,item=x,time=1", "line 2", "set data.duplicates (--duplicates) to sum, mean, last or keep"}},
		{name: "all rows in one part", file: goodTable, flags: []string{"--split", "file:parts.csv"}, parts: []string{"file:parts.csv", "all rows are in the training set"}},
		{name: "parts of another table", file: goodTable + "d,x,1,4\n", flags: []string{"--split", "file:parts.csv"}, parts: []string{"parts.csv", "10 parts", "11 rows"}},
		{name: "split by an unknown mode", file: goodTable, flags: []string{"--split", "entity:stroe=10%"}, parts: []string{`no mode "stroe"`, `did you mean "store"?`}},
		{name: "too few periods", file: goodTable, flags: []string{"--split", "time:last=1"}, parts: []string{"2 periods"}},
		{name: "negative weight", file: goodTable, flags: []string{"--weight", "bad", "--data", "weights.csv"}, parts: []string{"weights.csv, line 2", `column "bad"`, `"-1"`, "negative"}},
		{name: "logarithm of a negative target", file: strings.ReplaceAll(goodTable, ",3\n", ",-3\n"), flags: []string{"--transform", "log1p"}, parts: []string{"data row 1", "-3", "log1p", "use transform identity (--transform sets it)"}},
		{name: "a negative count", file: strings.ReplaceAll(goodTable, ",9\n", ",-9\n"), flags: []string{"--inference", "mean-field", "--likelihood", "poisson"}, parts: []string{"sales.csv: data row 4, column units", "-9 is not a count", "use likelihood gaussian (--likelihood sets it)"}},
		{name: "half a count", file: strings.ReplaceAll(goodTable, ",9\n", ",9.5\n"), flags: []string{"--inference", "mean-field", "--likelihood", "negative-binomial"}, parts: []string{"data row 4", "9.5 is not a count", "whole numbers"}},
		{name: "too few rows to calibrate", file: goodTable, flags: []string{"--conformal", "split"}, parts: []string{"half of the validation set", "needs 38", "set uncertainty.conformal (--conformal) to none"}},
		{name: "not a date", file: goodTable, flags: []string{"--modes", "store,item,hour(time)"}, parts: []string{"sales.csv, line 2", `column "time"`, `"1"`, "date"}},
		{name: "another format", file: "PAR1 and so on", parts: []string{"sales.csv", "Parquet"}},
		{name: "binary", file: "a,b\x00\x01,c\n", parts: []string{"sales.csv", "not text"}},
		{name: "no such file", file: goodTable, flags: []string{"--data", "slaes.csv"}, parts: []string{"slaes.csv", "no such file", "check the path"}},
		{name: "a folder", file: goodTable, flags: []string{"--data", "."}, parts: []string{"."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inEmptyFolder(t)
			name := "sales.csv"
			if c.as != "" {
				name = c.as
			}
			write(t, name, c.file)
			write(t, "parts.csv", "part\n"+strings.Repeat("train\n", 10))
			write(t, "weights.csv", "store,item,time,units,bad\na,x,1,3,-1\nb,y,2,4,1\n")
			// Later flags override earlier ones, except for --data.
			args := []string{"fit", "--target", "units", "--modes", "store,item,time", "--sweeps", "2", "--rank", "1"}
			if !slices.Contains(c.flags, "--data") {
				args = append(args, "--data", name)
			}
			if i := slices.Index(c.flags, "--modes"); i >= 0 {
				args = slices.DeleteFunc(args, func(a string) bool { return a == "--modes" || a == "store,item,time" })
			}
			refused(t, exitFailed, c.parts, append(args, c.flags...)...)
		})
	}
}

// refused checks that a call fails with one line and writes nothing.
func refused(t *testing.T, code int, parts []string, args ...string) {
	t.Helper()
	before := listing(t)
	r := call(t, append(args, "--quiet")...)
	if r.code != code {
		t.Errorf("got exit %d, want %d", r.code, code)
	}
	if r.stdout != "" {
		t.Errorf("standard output has %q", r.stdout)
	}
	if !strings.HasPrefix(r.stderr, "kft: ") || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("got %q, want one line that starts with kft:", r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(r.stderr, part) {
			t.Errorf("%q does not contain %q", r.stderr, part)
		}
	}
	if after := listing(t); !slices.Equal(before, after) {
		t.Errorf("files were written: %v, before %v", after, before)
	}
}

// An invalid specification is a wrong call; every problem has its location.
func TestBadSpecification(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		parts          []string
	}{
		{"unknown key", "target: units", "tagret: units", []string{"kft.yaml:7:3", "data.tagret", "unknown key", `did you mean "target"?`}},
		{"unknown variant", "solver: cavi", "solver: lbfgs", []string{"kft.yaml", "fit.solver", `unknown value "lbfgs"`, "als, adam or cavi"}},
		{"newer version", "version: 1", "version: 2", []string{"kft.yaml:2:10", "newer kft"}},
		{"not valid YAML", "version: 1", "version: [1", []string{"kft.yaml", "not valid YAML"}},
		{"list for a value", "target: units", "target: [units]", []string{"kft.yaml:7:", "data.target", "single value"}},
		{"bad number", "sweeps: 60", "sweeps: many", []string{"kft.yaml:", "fit.sweeps", `"many"`, "whole number"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inEmptyFolder(t)
			write(t, "sales.csv", goodTable)
			spec := must(t, "spec", "sales.csv", "--target", "units", "--modes", "store,item,time").stdout
			if !strings.Contains(spec, c.from) {
				t.Fatalf("the specification has no %q", c.from)
			}
			write(t, "kft.yaml", strings.Replace(spec, c.from, c.to, 1))
			refused(t, exitUsage, c.parts, "fit")
		})
	}
}

// Only models are overwritten without --force.
func TestOutputIsNotOverwritten(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "notes.txt", "precious")
	fit := fitSales("--rank", "1", "--sweeps", "1")
	refused(t, exitUsage, []string{"notes.txt already exists", "--force"}, append(fit, "-o", "notes.txt")...)
	if read(t, "notes.txt") != "precious" {
		t.Error("the file was changed")
	}
	must(t, append(fit, "-o", "m.kft")...)
	must(t, append(fit, "-o", "m.kft")...)
	must(t, append(fit, "-o", "notes.txt", "--force")...)
	must(t, "inspect", "notes.txt")
}

// Damaged files and files of other kinds are not read as models.
func TestBadModel(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1", "-o", "m.kft")...)
	model := read(t, "m.kft")
	write(t, "changed.kft", model[:len(model)/2]+"x"+model[len(model)/2+1:])
	write(t, "short.kft", model[:len(model)-100])
	write(t, "stub.kft", model[:6])
	for _, n := range []int{4, 5, 8} {
		write(t, "cut.kft", model[:n])
		if r := call(t, "inspect", "cut.kft"); r.code != exitFailed || !strings.Contains(r.stderr, fmt.Sprintf("%d bytes are too few for a model", n)) {
			t.Errorf("%d bytes: exit %d, %s", n, r.code, r.stderr)
		}
	}
	for file, parts := range map[string][]string{
		"changed.kft": {"changed.kft", "checksum", "fit the model again"},
		"short.kft":   {"short.kft", "truncated"},
		"stub.kft":    {"stub.kft", "truncated"},
		"sales.csv":   {"sales.csv", "a text file", "not a kft model"},
		"none.kft":    {"none.kft", "no such file"},
	} {
		refused(t, exitFailed, parts, "predict", file, "sales.csv", "-o", "out.csv")
		refused(t, exitFailed, parts, "predict", file, "--cell", "store=S001,item=A0001,time=2023-1")
	}
	write(t, "sales2.csv", "year,month,store,item\n2023,1,S999,A0001\n")
	refused(t, exitFailed, []string{"data row 1", `mode store: the id "S999" is not in the training data; leave out --strict to predict it by the prior`}, "predict", "m.kft", "sales2.csv", "-o", "out.csv", "--strict")
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
