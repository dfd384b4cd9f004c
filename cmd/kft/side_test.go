package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// storesTable describes the 12 stores of smallSales except the last, and one store without
// sales.
var storesTable = func() string {
	var b strings.Builder
	b.WriteString("store,region,area,floors\n")
	for i := range 11 {
		fmt.Fprintf(&b, "S%03d,%s,%d,1\n", i+1, []string{"north", "south"}[i%2], 100+37*i%90)
	}
	b.WriteString("S900,south,150,1\n")
	return b.String()
}()

const newStoresTable = "store,region,area,floors\nN001,north,120,1\nN002,east,,2\n"

// fitSide returns the arguments of a fit of the small table with side information of
// stores.
func fitSide(more ...string) []string {
	return fitSales(slices.Concat([]string{"--rank", "2", "--sweeps", "2", "--side", "store=stores.csv"}, more)...)
}

func inSideFolder(t *testing.T) {
	t.Helper()
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	write(t, "stores.csv", storesTable)
	write(t, "new_stores.csv", newStoresTable)
}

// Invalid side information is one line with its location and a remedy, and nothing is
// written. The exit code is 1 for errors in a table, 2 for errors in the call.
func TestBadSide(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(storesTable, old, new, 1) }
	for _, c := range []struct {
		name  string
		table string // bad.csv
		flags []string
		code  int
		parts []string
	}{
		{"covers no entity", "store,region\nX1,a\nX2,b\n", []string{"--side", "store=bad.csv"}, exitFailed,
			[]string{"side information of store: bad.csv", `column "store"`, "describes no entity of mode store", `its keys are "X1", "X2"`, `the ids of the mode are "S0`, "store=bad.csv[key=COLUMN]"}},
		{"key twice", change("S004,", "S002,"), []string{"--side", "store=bad.csv"}, exitFailed,
			[]string{`bad.csv, line 5, column "store", value "S002"`, "duplicate of line 3", "keep one row per entity"}},
		{"no usable column", "store,a,b\nS001,7,\nS002,7,\n", []string{"--side", "store=bad.csv:a:num,b:num"}, exitFailed,
			[]string{"bad.csv", "has no usable column", `column "a" is left out: all values are equal (7)`, `column "b" is left out: all values are missing`}},
		{"text in a number column", storesTable, []string{"--side", "store=bad.csv:region:num"}, exitFailed,
			[]string{`bad.csv, line 2, column "region", value "north"`, "not a number, as type num requires", "another type"}},
		{"no such column", storesTable, []string{"--side", "store=bad.csv:regoin"}, exitFailed,
			[]string{"bad.csv", `column "regoin"`, `did you mean "region"?`}},
		{"no key column", change("store,", "shop,"), []string{"--side", "store=bad.csv"}, exitFailed,
			[]string{"bad.csv", "no column with the ids of mode store", "store=bad.csv[key=COLUMN]", "shop, region"}},
		{"no such file", "", []string{"--side", "store=stroes.csv"}, exitFailed, []string{"stroes.csv", "no such file", "check the path"}},
		{"empty table", "", []string{"--side", "store=bad.csv"}, exitFailed, []string{"bad.csv", "empty"}},
		{"kernel on an unknown column", storesTable, []string{"--side", "store=bad.csv", "--kernel", "rbf[aera]"}, exitFailed,
			[]string{"rbf[aera]", `did you mean "area"?`}},
		{"unknown column of the ids", storesTable, []string{"--side", "time=@mnth"}, exitFailed, []string{`no column @mnth can be computed from the ids`, `did you mean "month"?`}},

		{"unknown kernel", storesTable, []string{"--side", "store=bad.csv", "--kernel", "matern23"}, exitUsage, []string{"--kernel", `"matern23"`, `did you mean "matern32"?`}},
		{"unknown variant", storesTable, []string{"--side", "store=bad.csv", "--variant", "wrl"}, exitUsage, []string{"--variant", `"wrl"`, `did you mean "wlr"?`}},
		{"unknown variant of a term", storesTable, []string{"--side", "store=bad.csv", "--term", "store,item:2@aditive"}, exitUsage, []string{"--term", `"aditive"`, `did you mean "additive"?`}},
		{"unknown space", storesTable, []string{"--side", "store=bad.csv", "--space", "daul"}, exitUsage, []string{"--space", `"daul"`, `did you mean "dual"?`}},
		{"unknown type", storesTable, []string{"--side", "store=bad.csv:region:cta"}, exitUsage, []string{"--side", `column "region"`, `"cta"`, `did you mean "cat"?`}},
		{"unknown mode", storesTable, []string{"--side", "stroe=bad.csv"}, exitUsage, []string{"--side", `mode "stroe"`, `did you mean "store"?`}},
		{"unknown mode of a kernel", storesTable, []string{"--side", "store=bad.csv", "--kernel", "stroe=rbf"}, exitUsage, []string{"--kernel", `mode "stroe"`, `did you mean "store"?`}},
		{"two tables", storesTable, []string{"--side", "store=bad.csv", "--side", "store=stores.csv"}, exitUsage, []string{"--side", `mode "store" already has the side table store=bad.csv`, "join the two"}},
		{"no equals sign", storesTable, []string{"--side", "bad.csv"}, exitUsage, []string{"--side", `"bad.csv"`, "'=' is missing", "mode=file"}},
		{"variant without a table", "", []string{"--variant", "wlr"}, exitUsage, []string{"--variant", "wlr requires side information", "--side"}},
		{"unknown placebo", storesTable, []string{"--side", "store=bad.csv", "--placebo", "nosie"}, exitUsage, []string{"--placebo", `"nosie"`, `did you mean "noise"?`}},
		{"placebo of a mode without a table", storesTable, []string{"--side", "store=bad.csv", "--placebo", "noise:item"}, exitUsage, []string{"--placebo", `mode "item" has no side table`}},
		{"placebo without side tables", "", []string{"--placebo", "noise"}, exitUsage, []string{"--placebo", "no side table to replace", "--side"}},
		{"no columns", storesTable, []string{"--side", "store=bad.csv", "--side-columns", "0"}, exitUsage, []string{"--side-columns", "above 0"}},
		{"output is the side table", storesTable, []string{"--side", "store=bad.csv", "-o", "bad.csv", "--force"}, exitUsage, []string{"bad.csv is an input of this command"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inSideFolder(t)
			write(t, "bad.csv", c.table)
			fit := fitSales(append([]string{"--sweeps", "2"}, c.flags...)...)
			if !slices.Contains(c.flags, "--term") {
				fit = append(fit, "--rank", "2")
			}
			refused(t, c.code, c.parts, fit...)
		})
	}
}

// Warnings and notes do not stop the fit.
func TestSideNotices(t *testing.T) {
	inSideFolder(t)
	write(t, "empty.csv", strings.ReplaceAll(strings.Replace(storesTable, "floors", "floors,gone", 1), ",1\n", ",1,\n"))
	for _, c := range []struct {
		args           []string
		stdout, stderr []string
	}{
		{fitSide(), []string{"Side: store: 11 of 12 ids with a row, 1 without, 1 row without an id in the data; dual with kernel matern32, ", "region cat (guessed, 2 levels, 1 missing), area num (guessed, 1 missing)", "floors left out",
			`warning: side information of store: column "floors" is left out: all values are equal (1)`}, nil},
		{fitSales("--rank", "2", "--sweeps", "1", "--side", "store=empty.csv"), []string{`column "gone" is left out: all values are missing`}, nil},
		{fitSales("--rank", "40", "--sweeps", "1", "--side", "store=stores.csv:area"), []string{"the rank 40 between store and item is reduced to 12, the maximum that store allows"}, nil},
		{fitSide("--placebo", "noise"), []string{"replaced by noise"}, nil},
		{fitSide("--kernel", "item=rbf"), []string{"warning: kernel item=rbf has no effect: mode item has no side information"}, nil},
		{fitSide("--length-scales", "learn"), []string{"\n      learned: intercept 1 -> ", ", matern32 length "}, nil},
		{fitSide("--space", "dual-unwhitened", "--length-scales", "learn"), []string{"warning: length-scales cannot be learned in the space dual-unwhitened; set side.space (--space) to dual"}, nil},
		{fitSales("--term", "item,time:2", "--sweeps", "1", "--side", "store=stores.csv"), []string{"warning: the side information of store has no effect: no term has a core of store with a variant other than plain"}, nil},
		{fitSide("--space", "primal", "--kernel", "rbf"), []string{"; primal, "}, []string{"note: --kernel applies to kernels and has no effect in the space primal"}},
		{fitSales("--rank", "1", "--sweeps", "1", "--space", "primal"), nil, []string{"note: --space applies to side information and has no effect without --side"}},
	} {
		r := must(t, c.args...)
		for _, part := range c.stdout {
			if !strings.Contains(r.stdout, part) {
				t.Errorf("%v: %q does not contain %q", c.args, r.stdout, part)
			}
		}
		for _, part := range c.stderr {
			if !strings.Contains(r.stderr, part) {
				t.Errorf("%v: %q does not contain %q", c.args, r.stderr, part)
			}
		}
	}
}

// predict and evaluate use side information of new ids, for tables and cells, and report
// its use.
func TestPredictSide(t *testing.T) {
	inSideFolder(t)
	must(t, fitSide()...)
	write(t, "new.csv", "store,item,year,month,units\nN001,A0001,2023,1,3\nN002,A0002,2023,2,4\nN003,A0001,2023,1,5\nS001,A0001,2023,1,6\n")
	without := must(t, "predict", "model.kft", "new.csv")
	with := must(t, "predict", "model.kft", "new.csv", "--side", "store=new_stores.csv")
	a, b := strings.Split(without.stdout, "\n"), strings.Split(with.stdout, "\n")
	for i, want := range []string{"unseen", "store:side", "store:side", "store", ""} {
		if !strings.HasSuffix(b[i], ","+want) {
			t.Errorf("row %q does not end in %q", b[i], want)
		}
		if fromSide := want == "store:side"; fromSide == (a[i] == b[i]) {
			t.Errorf("the side table turns %q to %q", a[i], b[i])
		}
	}
	for _, part := range []string{"4 rows predicted\n", "2 rows with an unseen store, predicted from its side information; the column unseen", "1 row with an unseen store, predicted by the prior"} {
		if !strings.Contains(with.stderr, part) {
			t.Errorf("%q does not contain %q", with.stderr, part)
		}
	}
	write(t, "others.csv", "store,region,area,floors\nN100,north,120,1\n")
	for _, verb := range []string{"predict", "evaluate"} {
		if r := must(t, verb, "model.kft", "new.csv", "--side", "store=others.csv"); !strings.Contains(r.stdout+r.stderr, "no row used others.csv: every store has training data or is not in that table") {
			t.Errorf("%s: %q, %q", verb, r.stdout, r.stderr)
		}
	}
	cell := must(t, "predict", "model.kft", "--side", "store=new_stores.csv", "--cell", "store=N001,item=A0001,time=2023-1", "--json", "--strict")
	var answer struct {
		Prediction float64  `json:"prediction"`
		Unseen     []string `json:"unseen"`
		FromSide   []string `json:"from_side"`
	}
	if err := json.Unmarshal([]byte(cell.stdout), &answer); err != nil || len(answer.Unseen) != 0 || !slices.Equal(answer.FromSide, []string{"store"}) || cell.stderr != "" {
		t.Errorf("%v, %+v", err, cell)
	}
	fields := strings.Split(b[1], ",")
	if v, err := strconv.ParseFloat(fields[5], 64); err != nil || strings.Join(fields[:5], ",") != "N001,A0001,2023,1,3" || math.Abs(v-answer.Prediction) > 1e-5*math.Abs(v) {
		t.Errorf("the cell is predicted %g, the row is %q", answer.Prediction, b[1])
	}
	if r := must(t, "evaluate", "model.kft", "new.csv", "--side", "store=new_stores.csv"); !strings.Contains(r.stdout, "2 rows with an unseen store, predicted from its side information\n1 row with an unseen store") {
		t.Errorf("%q", r.stdout)
	}
	if r := must(t, "evaluate", "model.kft", "new.csv", "--side", "store=new_stores.csv", "--json"); !strings.Contains(r.stdout, "\"from_side\": {\n    \"item\": 0,\n    \"store\": 2,") {
		t.Errorf("%q", r.stdout)
	}
}

// Side tables that the model cannot use are errors.
func TestBadPredictSide(t *testing.T) {
	inSideFolder(t)
	must(t, fitSide("-o", "model.kft")...)
	must(t, fitSales("--rank", "1", "--sweeps", "1", "-o", "plain.kft")...)
	write(t, "short.csv", "store,region\nN001,north\n")
	write(t, "text.csv", "store,region,area\nN001,north,big\n")
	write(t, "twice.csv", "store,region,area\nN001,north,1\nN001,south,2\n")
	for _, c := range []struct {
		model, side string
		code        int
		parts       []string
	}{
		{"plain.kft", "store=new_stores.csv", exitUsage, []string{"--side", "fitted without side information of mode store", "fit it with a side table of store"}},
		{"model.kft", "item=new_stores.csv", exitUsage, []string{"--side", "fitted without side information of mode item"}},
		{"model.kft", "stroe=new_stores.csv", exitUsage, []string{"--side", `no mode "stroe"`, `did you mean "store"?`, "store, item, time"}},
		{"model.kft", "store=short.csv", exitFailed, []string{"short.csv", `column "area"`, "the table has no such column", "choose one of store, region"}},
		{"model.kft", "store=text.csv", exitFailed, []string{`text.csv, line 2, column "area", value "big"`, "not a number"}},
		{"model.kft", "store=twice.csv", exitFailed, []string{`twice.csv, line 3, column "store", value "N001"`, "duplicate of line 2"}},
		{"model.kft", "store=new_stores.csv:region:cat,area:cat", exitUsage, []string{"--side", `column "area" was fitted with type num, not cat`, "leave the columns out"}},
		{"model.kft", "store=none.csv", exitFailed, []string{"none.csv", "no such file"}},
		{"model.kft", "new_stores.csv", exitUsage, []string{"'=' is missing"}},
	} {
		t.Run(c.model+" "+c.side, func(t *testing.T) {
			refused(t, c.code, c.parts, "predict", c.model, "sales.csv", "-o", "out.csv", "--side", c.side)
			refused(t, c.code, c.parts, "predict", c.model, "--cell", "store=S001,item=A0001,time=2023-1", "--side", c.side)
		})
	}
	refused(t, exitUsage, []string{"mode store has two tables"}, "predict", "model.kft", "sales.csv", "--side", "store=new_stores.csv", "--side", "store=short.csv")
	refused(t, exitUsage, []string{"new_stores.csv is an input of this command"}, "predict", "model.kft", "sales.csv", "--side", "store=new_stores.csv", "-o", "new_stores.csv")
	if r := call(t, "evaluate", "plain.kft", "sales.csv", "--side", "store=new_stores.csv"); r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, "fitted without side information") {
		t.Errorf("%+v", r)
	}
}

// The JSON reports have the documented keys.
func TestSideJSON(t *testing.T) {
	inSideFolder(t)
	report := must(t, fitSide("--json")...).stdout
	inspected := must(t, "inspect", "model.kft", "--json").stdout
	for _, text := range []string{report, inspected} {
		for _, part := range []string{`"mode": "store"`, `"space": "dual"`, `"kernel": "matern32"`, `"matched": 11`, `"unmatched": 1`, `"extra_rows": 1`, `"guessed": true`, `"type": "cat"`, `"constant": true`} {
			if !strings.Contains(text, part) {
				t.Errorf("no %s in %s", part, text)
			}
		}
	}
	must(t, fitSide("--length-scales", "learn")...)
	if text := must(t, "inspect", "model.kft", "--json").stdout; !strings.Contains(text, `"name": "matern32 length"`) || !strings.Contains(text, `"end": `) {
		t.Errorf("no learned length in %s", text)
	}
	for _, part := range []string{"Side: store: 11 of 12 ids with a row", "variant", "wlr", "learned: "} {
		if text := must(t, "inspect", "model.kft").stdout; !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}
