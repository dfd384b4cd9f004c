package sideinfo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

var storeMode = dataset.Mode{Name: "store", Columns: []string{"store"}}

// openSide joins a table written to a file with ids.
func openSide(t *testing.T, spec, text string, mode dataset.Mode, ids ...string) (*Joined, error) {
	t.Helper()
	s, err := ParseSide(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Own() {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(context.Background(), s, mode, ids, tableio.Format{})
}

func mustOpenSide(t *testing.T, spec, text string, mode dataset.Mode, ids ...string) *Joined {
	t.Helper()
	j, err := openSide(t, spec, text, mode, ids...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJoin(t *testing.T) {
	j := mustOpenSide(t, "store=s.csv", "store,city,lat\n7,Ames,1\n9,Boone,2\n3,Clive,3\n,Nowhere,4\n", storeMode, "3", "5", "7")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[city lat] [["Clive" "" "Ames"] ["3" "" "1"]]` {
		t.Errorf("rows %s", got)
	}
	if !slices.Equal(j.Has, []bool{true, false, true}) {
		t.Errorf("has %v", j.Has)
	}
	r := j.Report
	if r.Entities != 3 || r.Matched != 2 || r.Unmatched != 1 || r.ExtraRows != 1 || !slices.Equal(r.Notices, []string{"s.csv: 1 rows without a key were left out"}) {
		t.Errorf("report %+v", r)
	}
	if j.Rows.Line(0) != 4 || j.Rows.Line(1) != 0 {
		t.Errorf("lines %d, %d", j.Rows.Line(0), j.Rows.Line(1))
	}
	if j.Extra == nil || !slices.Equal(j.Extra.IDs, []string{"9"}) || j.Extra.Rows.Columns[0][0] != "Boone" {
		t.Errorf("extra %+v", j.Extra)
	}
}

func TestJoinKeys(t *testing.T) {
	const text = "id,year,month,rain\na,2015,1,5\nb,2015,12,6\n"
	timeMode := dataset.Mode{Name: "time", Columns: []string{"year", "month"}}
	if j := mustOpenSide(t, "time=w.csv", text, timeMode, "2015-12"); j.Rows.Columns[1][0] != "6" || !slices.Equal(j.Rows.Names, []string{"id", "rain"}) {
		t.Errorf("by the mode's columns: %v %q", j.Rows.Names, j.Rows.Columns)
	}
	if j := mustOpenSide(t, "store=w.csv[key=id]:rain", text, storeMode, "b", "a"); !slices.Equal(j.Rows.Columns[0], []string{"6", "5"}) {
		t.Errorf("by a given key: %q", j.Rows.Columns)
	}
	hours := dataset.Mode{Name: "hour", Columns: []string{"timestamp"}, Func: "hour"}
	if j := mustOpenSide(t, "hour=h.csv", "hour,open\n9,1\n10,0\n", hours, "10"); j.Rows.Columns[0][0] != "0" {
		t.Errorf("by a function's name: %q", j.Rows.Columns)
	}
}

func TestJoinErrors(t *testing.T) {
	for _, tc := range []struct{ name, spec, text, want string }{
		{"a key twice", "store=s.csv", "store,city\n1,a\n2,b\n\n1,c\n",
			`s.csv, line 5, column "store", value "1": this key was given on line 2 already; keep one row an entity; a table of several rows an entity is written store=s.csv~NAMES~VALUES`},
		{"no entity", "store=s.csv", "store,city\nS1,a\nS2,b\nS3,c\nS4,d\n",
			`s.csv, column "store": the side table describes no entity of mode store: its keys are "S1", "S2", "S3", ..., the mode's ids are "1", "2"; name the column that holds the ids of store, as in store=s.csv[key=COLUMN], or mend the ids`},
		{"no key column", "store=s.csv", "shop,city\n1,a\n",
			`s.csv, column "store": the side table has no column with the ids of mode store; name it, as in store=s.csv[key=COLUMN]; the columns are shop, city`},
		{"a wrong key column", "store=s.csv[key=shpo]", "shop,city\n1,a\n",
			`s.csv, column "shpo": the table has no such column (did you mean "shop"?); choose one of shop, city`},
		{"a wrong column", "store=s.csv:citi", "store,city\n1,a\n",
			`s.csv, column "citi": the table has no such column (did you mean "city"?); choose one of store, city`},
		{"a key alone", "store=s.csv", "store\n1\n",
			`s.csv: the side table has no column besides its key; give a table with columns that describe the entities`},
		{"empty keys", "store=s.csv", "store,city\n,a\n",
			`s.csv, column "store": the key is empty in every row; name another column, as in [key=COLUMN]`},
		{"a missing file", "store=s.csv", "",
			`s.csv: the file is empty; give a table with a header and at least one row`},
		{"a pair twice", "store=s.csv~name~value", "store,name,value\n1,a,2\n1,b,3\n1,a,4\n",
			`s.csv, line 4, column "store+name", value "1 a": this key was given on line 2 already; keep one value for each key and name`},
		{"text for a value", "store=s.csv~name~value", "store,name,value\n1,a,2\n2,a,x\n",
			`s.csv, line 3, column "value", value "x": this is not a number, which num needs; mend it, or give a another type`},
		{"an unknown name", "store=s.csv~name~value:c", "store,name,value\n1,a,2\n",
			`s.csv, column "name", value "c": no row has this name; choose names that are in the table`},
		{"an empty name", "store=s.csv~name~value", "store,name,value\n1,,2\n",
			`s.csv, line 2, column "name": the name is empty; fill it in or remove the row`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := openSide(t, tc.spec, tc.text, storeMode, "1", "2")
			var input *dataset.InputError
			if !errors.As(err, &input) || err.Error() != tc.want {
				t.Errorf("error\n%v\nwant\n%s", err, tc.want)
			}
		})
	}
}

func TestLongTable(t *testing.T) {
	const text = "store,name,value\n1,a,.5\n2,b,3\n1,b,1\n3,a,2\n"
	j := mustOpenSide(t, "store=s.csv~name~value", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[a b] [["" ".5"] ["3" "1"]]` || j.Report.ExtraRows != 1 {
		t.Errorf("%s, %+v", got, j.Report)
	}
	j = mustOpenSide(t, "store=s.csv~name~value:b:log", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[b] [["3" "1"]]` {
		t.Errorf("a choice: %s", got)
	}
	j = mustOpenSide(t, "store=s.csv~name", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[name] [["b" "a|b"]]` {
		t.Errorf("labels: %s", got)
	}
}

// A long table of new ids lacks names that none of them has.
func TestLongTableOfNewIDs(t *testing.T) {
	j := mustOpenSide(t, "store=s.csv~name~value", "store,name,value\n1,a,.5\n2,b,3\n1,b,1\n2,a,2\n", storeMode, "2", "1")
	e, _, err := Fit(j, EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := e.SpecFor(Spec{Mode: "store", File: "new.csv"})
	if err != nil {
		t.Fatal(err)
	}
	frame := &dataset.Frame{File: "new.csv", Names: []string{"store", "name", "value"}, Columns: [][]string{{"8", "9", "9"}, {"b", "b", "z"}, {"3", "1", "7"}}}
	joined, err := Entities(spec, storeMode, frame)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %v %q", joined.IDs, joined.Rows.Names, joined.Rows.Columns); got != `[8 9] [a b] [["" ""] ["3" "1"]]` {
		t.Error(got)
	}
	if f, err := e.Encode(joined.Rows); err != nil || f.N != 2 {
		t.Errorf("%v, %v", f, err)
	}
	frame.Columns[1] = []string{"x", "y", "z"}
	if _, err := Entities(spec, storeMode, frame); err == nil || !strings.Contains(err.Error(), "no row has this name") {
		t.Errorf("a table of other names: %v", err)
	}
}

// The columns of a table of new ids are those of the fit; others are refused.
func TestSpecForColumns(t *testing.T) {
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": {"a", "a", "b", "b"}, "size:num": {"1", "2", "3", "4"}, "same:num": {"1", "1", "1", "1"}}, "city:cat", "size:num", "same:num")
	for text, want := range map[string]string{
		"store=n.csv": "", "store=n.csv:size,city": "", "store=n.csv:size:num,city:cat,same:num": "",
		"store=n.csv:size:cat,city": `column "size" was fitted as num`,
		"store=n.csv:size":          `column "city" is not among`,
		"store=n.csv:size,city,lat": `has no column "lat"`,
	} {
		given, err := ParseSide(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.SpecFor(given); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestOwnColumns(t *testing.T) {
	months := dataset.Mode{Name: "time", Columns: []string{"year", "month"}}
	days := dataset.Mode{Name: "day", Columns: []string{"ts"}, Func: "date"}
	for _, tc := range []struct {
		spec string
		mode dataset.Mode
		ids  []string
		want string
	}{
		{"time=@year,@month:cycle12", months, []string{"2015-1", "2016-12"}, `[["2015" "2016"] ["1" "12"]]`},
		{"time=@quarter:cycle4,@date:date", months, []string{"2015-1", "2016-12"}, `[["1" "4"] ["2015-01-01" "2016-12-01"]]`},
		{"day=@weekday:cycle7,@day:date", days, []string{"2016-10-02"}, `[["7"] ["2016-10-02"]]`},
		{"store=@store:num", storeMode, []string{"17"}, `[["17"]]`},
	} {
		j := mustOpenSide(t, tc.spec, "", tc.mode, tc.ids...)
		if got := fmt.Sprintf("%q", j.Rows.Columns); got != tc.want || j.Report.Matched != len(tc.ids) {
			t.Errorf("%s: %s, want %s", tc.spec, got, tc.want)
		}
	}
	for _, tc := range []struct {
		spec string
		mode dataset.Mode
		id   string
		want string
	}{
		{"time=@year", months, "2015-a-1", `mode time, id "2015-a-1": it cannot be taken apart into year, month`},
		{"time=@yaer", months, "2015-1", `mode time has no column "yaer" of its own (did you mean "year"?); choose from year, month, time or`},
		{"store=@month", storeMode, "x", `mode store, id "x": this is not a date, which @month needs`},
		{"day=@ts", days, "2016-10-02", `mode day has no column "ts" of its own`},
	} {
		if _, err := openSide(t, tc.spec, "", tc.mode, tc.id); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", tc.spec, err, tc.want)
		}
	}
}

// dataFile returns the path of a file of the development data, or "" where that
// is not at hand.
func dataFile(name string) string {
	root := os.Getenv("KFT_DATA")
	if root == "" {
		root = "../../shared/data"
	}
	path, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
