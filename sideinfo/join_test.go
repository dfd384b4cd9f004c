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

// openSide writes a table to a file and joins it with ids.
func openSide(t *testing.T, spec, text string, mode dataset.Mode, ids ...string) (*Joined, error) {
	t.Helper()
	s, err := ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if !s.FromIDs() {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(s.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(context.Background(), s, tableio.Files(s.File), mode, ids, tableio.Format{})
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
	const want = `[city lat] [["Clive" "" "Ames"] ["3" "" "1"]]`
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != want {
		t.Errorf("got rows %s, want %s", got, want)
	}
	if !slices.Equal(j.Has, []bool{true, false, true}) {
		t.Errorf("got Has %v, want true, false, true", j.Has)
	}
	r := j.Report
	if r.Entities != 3 || r.Matched != 2 || r.Unmatched != 1 || r.ExtraRows != 1 || !slices.Equal(r.Notices, []string{"s.csv: skipped 1 row without a key"}) {
		t.Errorf("got report %+v, want 3 entities, 2 matched, 1 unmatched, 1 extra row and a notice", r)
	}
	if j.Rows.Line(0) != 4 || j.Rows.Line(1) != 0 {
		t.Errorf("got lines %d and %d, want 4 and 0", j.Rows.Line(0), j.Rows.Line(1))
	}
	if j.Extra == nil || !slices.Equal(j.Extra.IDs, []string{"9"}) || j.Extra.Rows.Columns[0][0] != "Boone" {
		t.Errorf("got extra rows %+v, want that of id 9", j.Extra)
	}
}

func TestJoinKeys(t *testing.T) {
	const text = "id,year,month,rain\na,2015,1,5\nb,2015,12,6\n"
	timeMode := dataset.Mode{Name: "time", Columns: []string{"year", "month"}}
	if j := mustOpenSide(t, "time=w.csv", text, timeMode, "2015-12"); j.Rows.Columns[1][0] != "6" || !slices.Equal(j.Rows.Names, []string{"id", "rain"}) {
		t.Errorf("key of the columns of the mode: got %v %q", j.Rows.Names, j.Rows.Columns)
	}
	if j := mustOpenSide(t, "store=w.csv[key=id]:rain", text, storeMode, "b", "a"); !slices.Equal(j.Rows.Columns[0], []string{"6", "5"}) {
		t.Errorf("given key: got %q, want 6 and 5", j.Rows.Columns)
	}
	const sales = "store,month,city,units\n1,1,Ames,4\n2,1,Boone,5\n1,2,Ames,6\n" // a table of values that has facts
	if j := mustOpenSide(t, "store=sales.csv:city", sales, storeMode, "1", "2"); !slices.Equal(j.Rows.Columns[0], []string{"Ames", "Boone"}) {
		t.Errorf("rows of a key that agree: got %q, want Ames and Boone", j.Rows.Columns)
	}
	hours := dataset.Mode{Name: "hour", Columns: []string{"timestamp"}, Func: "hour"}
	if j := mustOpenSide(t, "hour=h.csv", "hour,open\n9,1\n10,0\n", hours, "10"); j.Rows.Columns[0][0] != "0" {
		t.Errorf("key of a calendar function: got %q, want 0", j.Rows.Columns)
	}
}

func TestJoinErrors(t *testing.T) {
	for _, tc := range []struct{ name, spec, text, want string }{
		{"duplicate key", "store=s.csv", "store,city\n1,a\n2,b\n\n1,c\n",
			`s.csv, line 5, column "store", value "1": the key is a duplicate of line 2; keep one row per entity, or write a table with several rows per entity as store=s.csv~NAMES~VALUES`},
		{"rows of a key that differ", "store=s.csv:city", "store,city\n1,a\n1,a\n1,c\n",
			`s.csv, line 4, column "store", value "1": the key is a duplicate of line 2; keep one row per entity, or write a table with several rows per entity as store=s.csv~NAMES~VALUES`},
		{"no entity", "store=s.csv", "store,city\nS1,a\nS2,b\nS3,c\nS4,d\n",
			`s.csv, column "store": the side table describes no entity of mode store: its keys are "S1", "S2", "S3", ..., the ids of the mode are "1", "2"; name the column that holds the ids of store, as in store=s.csv[key=COLUMN], or correct the ids`},
		{"no key column", "store=s.csv", "shop,city\n1,a\n",
			`s.csv, column "store": the side table has no column with the ids of mode store; name that column, as in store=s.csv[key=COLUMN]; the columns are shop, city`},
		{"unknown key column", "store=s.csv[key=shpo]", "shop,city\n1,a\n",
			`s.csv, column "shpo": the table has no such column (did you mean "shop"?); choose one of shop, city`},
		{"unknown column", "store=s.csv:citi", "store,city\n1,a\n",
			`s.csv, column "citi": the table has no such column (did you mean "city"?); choose one of store, city`},
		{"only a key", "store=s.csv", "store\n1\n",
			`s.csv: the side table has no column besides its key; give a table with columns that describe the entities`},
		{"empty keys", "store=s.csv", "store,city\n,a\n",
			`s.csv, column "store": the key is empty in every row; name another key column, as in [key=COLUMN]`},
		{"empty file", "store=s.csv", "",
			`s.csv: the file is empty; give a table with a header and at least one row`},
		{"duplicate pair", "store=s.csv~name~value", "store,name,value\n1,a,2\n1,b,3\n1,a,4\n",
			`s.csv, line 4, column "store+name", value "1 a": the key is a duplicate of line 2; keep one value per key and name`},
		{"text for a value", "store=s.csv~name~value", "store,name,value\n1,a,2\n2,a,x\n",
			`s.csv, line 3, column "value", value "x": the value is not a number, as type num requires; correct the value, or give a another type`},
		{"unknown name", "store=s.csv~name~value:c", "store,name,value\n1,a,2\n",
			`s.csv, column "name", value "c": no row has this name; choose names that are in the table`},
		{"empty name", "store=s.csv~name~value", "store,name,value\n1,,2\n",
			`s.csv, line 2, column "name": the name is empty; fill it in or remove the row`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := openSide(t, tc.spec, tc.text, storeMode, "1", "2")
			var input *dataset.InputError
			if !errors.As(err, &input) || err.Error() != tc.want {
				t.Errorf("got error\n%v\nwant\n%s", err, tc.want)
			}
		})
	}
}

func TestLongTable(t *testing.T) {
	const text = "store,name,value\n1,a,.5\n2,b,3\n1,b,1\n3,a,2\n"
	j := mustOpenSide(t, "store=s.csv~name~value", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[a b] [["" ".5"] ["3" "1"]]` || j.Report.ExtraRows != 1 {
		t.Errorf("values: got %s, report %+v", got, j.Report)
	}
	j = mustOpenSide(t, "store=s.csv~name~value:b:log", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[b] [["3" "1"]]` {
		t.Errorf("selected name: got %s, want column b", got)
	}
	j = mustOpenSide(t, "store=s.csv~name", text, storeMode, "2", "1")
	if got := fmt.Sprintf("%v %q", j.Rows.Names, j.Rows.Columns); got != `[name] [["b" "a|b"]]` {
		t.Errorf("labels: got %s, want b and a|b", got)
	}
}

// A long table of new ids may lack names, but not all of them.
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
	joined, err := TableEntities(spec, storeMode, frame)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[8 9] [a b] [["" ""] ["3" "1"]]`
	if got := fmt.Sprintf("%v %v %q", joined.IDs, joined.Rows.Names, joined.Rows.Columns); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if f, err := e.Encode(joined.Rows); err != nil || f.N != 2 {
		t.Errorf("got features %v, %v; want 2 rows", f, err)
	}
	frame.Columns[1] = []string{"x", "y", "z"}
	if _, err := TableEntities(spec, storeMode, frame); err == nil || !strings.Contains(err.Error(), "no row has this name") {
		t.Errorf("table of other names: got error %v, want one", err)
	}
}

// The columns listed for a table of new ids must be those of the fit.
func TestSpecForColumns(t *testing.T) {
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": {"a", "a", "b", "b"}, "size:num": {"1", "2", "3", "4"}, "same:num": {"1", "1", "1", "1"}}, "city:cat", "size:num", "same:num")
	for text, want := range map[string]string{
		"store=n.csv": "", "store=n.csv:size,city": "", "store=n.csv:size:num,city:cat,same:num": "",
		"store=n.csv:size:cat,city": `column "size" was fitted with type num`,
		"store=n.csv:size":          `column "city" is not listed`,
		"store=n.csv:size,city,lat": `has no column "lat"`,
	} {
		given, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.SpecFor(given); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}

func TestIDColumns(t *testing.T) {
	months := dataset.Mode{Name: "time", Columns: []string{"year", "month"}}
	days := dataset.Mode{Name: "day", Columns: []string{"ts"}, Func: "date"}
	oneMonth := dataset.Mode{Name: "time", Columns: []string{"month"}}
	named := dataset.Mode{Name: "month", Columns: []string{"month"}}
	dayFirst := dataset.Mode{Name: "day", Columns: []string{"day"}}.WithIDDates([]string{"01/02/2016", "31/01/2016"})
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
		{"time=@month,@time", oneMonth, []string{"2016-12", "Jan 2017", "02/2017", "201703", "2017Q2"}, `[["12" "1" "2" "3" "4"] ["2016-12" "Jan 2017" "02/2017" "201703" "2017Q2"]]`},
		{"time=@month", oneMonth, []string{"7", "x"}, `[["7" "x"]]`},
		{"month=@month", named, []string{"2016-12"}, `[["2016-12"]]`},
		{"month=@month:group", named, []string{"2016-12"}, `[["12"]]`},
		{"day=@month,@weekday", dayFirst, []string{"31/01/2016", "01/02/2016"}, `[["1" "2"] ["7" "1"]]`},
	} {
		j := mustOpenSide(t, tc.spec, "", tc.mode, tc.ids...)
		if got := fmt.Sprintf("%q", j.Rows.Columns); got != tc.want || j.Report.Matched != len(tc.ids) {
			t.Errorf("%s: got %s, want %s", tc.spec, got, tc.want)
		}
	}
	for _, tc := range []struct {
		spec string
		mode dataset.Mode
		id   string
		want string
	}{
		{"time=@year", months, "2015-a-1", `mode time, id "2015-a-1": the id cannot be split into year, month`},
		{"time=@yaer", months, "2015-1", `mode time: no column @yaer can be computed from the ids (did you mean "year"?); use year, month, time or`},
		{"store=@month", storeMode, "x", `mode store, id "x": the id is not a date, as @month requires`},
		{"day=@days_12-25_13-01", days, "2016-10-02", `mode day: @days_12-25_13-01 has a rule that does not exist; write days as 12-25,`},
		{"day=@ts", days, "2016-10-02", `mode day: no column @ts can be computed from the ids`},
	} {
		if _, err := openSide(t, tc.spec, "", tc.mode, tc.id); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want %s", tc.spec, err, tc.want)
		}
	}
}

// dataFile returns the path of a file of public data, or "" if it is not available.
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
