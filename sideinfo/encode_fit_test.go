package sideinfo

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// fitColumns fits columns, given as name:type and values, and encodes them.
func fitColumns(t *testing.T, opt EncodeOptions, columns map[string][]string, order ...string) (*Encoder, Features, Report) {
	t.Helper()
	e, f, r, err := tryFit(opt, columns, order...)
	if err != nil {
		t.Fatal(err)
	}
	return e, f, r
}

func tryFit(opt EncodeOptions, columns map[string][]string, order ...string) (*Encoder, Features, Report, error) {
	j := &Joined{Spec: Spec{Mode: "store", File: "s.csv"}, Mode: storeMode, Rows: &dataset.Frame{File: "s.csv"}}
	for _, key := range order {
		name, typ, _ := strings.Cut(key, ":")
		j.Spec.Columns = append(j.Spec.Columns, ColumnSpec{name, Type(typ)})
		j.Rows.Names = append(j.Rows.Names, name)
		j.Rows.Columns = append(j.Rows.Columns, columns[key])
	}
	j.Has = slices.Repeat([]bool{true}, j.Rows.Len())
	e, r, err := Fit(j, opt)
	if err != nil {
		return nil, Features{}, r, err
	}
	f, err := e.Encode(j.Rows)
	return e, f, r, err
}

func featureColumn(f Features, name string) []float32 {
	c := slices.Index(f.Names, name)
	if c < 0 {
		return nil
	}
	var out []float32
	for i := range f.N {
		out = append(out, f.X[i*f.C+c])
	}
	return out
}

func near(got []float32, want ...float64) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range want {
		if math.Abs(float64(got[i])-want[i]) > 1e-6 {
			return false
		}
	}
	return true
}

func TestQuantities(t *testing.T) {
	_, f, r := fitColumns(t, EncodeOptions{}, map[string][]string{
		"lat:num":       {"1", "3", "", "NA"},
		"price:log":     {"1", "100", "10", "10"},
		"stock:log":     {"0", "0", "1.718281828459045", "1.718281828459045"},
		"opened:date":   {"2016-01-01", "01/03/2016", "2016-01-01", "01/03/2016 12:00:00 AM"},
		"month:cycle12": {"12", "3", "6", ""},
	}, "lat:num", "price:log", "stock:log", "opened:date", "month:cycle12")
	if want := []string{"lat", "lat missing", "price", "stock", "opened", "month cos", "month sin", "month missing"}; !slices.Equal(f.Names, want) {
		t.Fatalf("names %q", f.Names)
	}
	root2 := math.Sqrt2
	for name, want := range map[string][]float64{
		"lat": {-1, 1, 0, 0}, "lat missing": {0, 0, 1, 1}, "price": {-root2, root2, 0, 0}, "stock": {-1, -1, 1, 1}, "opened": {-1, 1, -1, 1},
		"month cos": {1, 0, -1, 0}, "month sin": {0, 1, 0, 1. / 3}, "month missing": {0, 0, 0, 1},
	} {
		if got := featureColumn(f, name); !near(got, want...) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if r.Columns[0].Missing != 2 || r.Columns[0].Columns != 2 || r.Columns[0].Guessed {
		t.Errorf("report %+v", r.Columns[0])
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
}

// TestSharedIndicator: columns whose values lack for the same entities need one
// indicator.
func TestSharedIndicator(t *testing.T) {
	_, f, _ := fitColumns(t, EncodeOptions{RareBelow: 1}, map[string][]string{"a:num": {"1", "2", ""}, "b:num": {"2", "1", ""}, "c:cat": {"x", "", "y"}}, "a:num", "b:num", "c:cat")
	if want := []string{"a", "a missing", "b", "c=x", "c=y", "c missing"}; !slices.Equal(f.Names, want) {
		t.Errorf("names %q", f.Names)
	}
}

func TestCategories(t *testing.T) {
	values := slices.Concat(slices.Repeat([]string{"b"}, 6), slices.Repeat([]string{"a"}, 5), []string{"rare", "rarer", ""})
	e, f, r := fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": values}, "city:cat")
	if want := []string{"city=a", "city=b", "city other", "city missing"}; !slices.Equal(f.Names, want) {
		t.Fatalf("names %q", f.Names)
	}
	for i, want := range map[int][]float32{0: {0, 1, 0, 0}, 6: {1, 0, 0, 0}, 11: {0, 0, 1, 0}, 12: {0, 0, 1, 0}, 13: {0, 0, 0, 1}} {
		if !slices.Equal(f.Row(i), want) {
			t.Errorf("row %d is %v, want %v", i, f.Row(i), want)
		}
	}
	if c := r.Columns[0]; c.Levels != 4 || c.Pooled != 2 || c.Missing != 1 || c.Hashed != 0 {
		t.Errorf("report %+v", c)
	}
	g, err := e.Encode(dataset.NewFrame([]string{"x", "city"}, []string{"", ""}, []string{"new", "a"}))
	if err != nil || !slices.Equal(g.Row(0), []float32{0, 0, 1, 0}) || !slices.Equal(g.Row(1), []float32{1, 0, 0, 0}) {
		t.Errorf("new rows %v, %v", g.X, err)
	}
	// Without rare levels there is no column for a new one.
	e, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": values[:11]}, "city:cat")
	g, err = e.Encode(dataset.NewFrame([]string{"city"}, []string{"new"}))
	if err != nil || f.C != 2 || !slices.Equal(g.X, []float32{0, 0}) {
		t.Errorf("%q: new row %v, %v", f.Names, g.X, err)
	}
	// A mark that is there or not is one column.
	if _, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"open:cat": append(slices.Repeat([]string{"yes"}, 5), "")}, "open:cat"); f.C != 1 {
		t.Errorf("names %q", f.Names)
	}
}

func TestHashedLevels(t *testing.T) {
	var values []string
	for level := range 40 {
		for range 5 + 40 - level {
			values = append(values, fmt.Sprintf("L%02d", level))
		}
	}
	values = append(values, "rare")
	e, f, r := fitColumns(t, EncodeOptions{MostLevels: 16}, map[string][]string{"sku:cat": values}, "sku:cat")
	if f.C != 17 || f.Names[0] != "sku=L00" || f.Names[11] != "sku=L11" || f.Names[12] != "sku #1" || f.Names[16] != "sku other" {
		t.Fatalf("names %q", f.Names)
	}
	if c := r.Columns[0]; c.Levels != 41 || c.Hashed != 28 || c.Pooled != 1 || c.Columns != 17 {
		t.Errorf("report %+v", c)
	}
	used := map[int]bool{}
	for i := range f.N {
		sum := float32(0)
		for c, v := range f.Row(i) {
			sum += v
			if v != 0 && c >= 12 && c < 16 {
				used[c] = true
			}
		}
		if sum != 1 {
			t.Fatalf("row %d is %v", i, f.Row(i))
		}
	}
	if len(used) < 3 {
		t.Errorf("28 levels use %d of 4 columns", len(used))
	}
	g, err := e.Encode(dataset.NewFrame([]string{"sku"}, []string{"never seen"}))
	if err != nil || g.X[16] != 1 {
		t.Errorf("a new level: %v, %v", g.X, err)
	}
}

func TestLabelColumns(t *testing.T) {
	values := []string{"a|b", " b | a|a", "a", "a|c", "", "a|b|c|d"}
	_, f, r := fitColumns(t, EncodeOptions{RareBelow: 2}, map[string][]string{"genres:labels": values}, "genres:labels")
	if want := []string{"genres=a", "genres=b", "genres=c", "genres other", "genres missing"}; !slices.Equal(f.Names, want) {
		t.Fatalf("names %q", f.Names)
	}
	for i, want := range map[int][]float32{0: {1, 1, 0, 0, 0}, 1: {1, 1, 0, 0, 0}, 3: {1, 0, 1, 0, 0}, 4: {0, 0, 0, 0, 1}, 5: {1, 1, 1, 1, 0}} {
		if !slices.Equal(f.Row(i), want) {
			t.Errorf("row %d is %v, want %v", i, f.Row(i), want)
		}
	}
	if c := r.Columns[0]; c.Levels != 4 || c.Pooled != 1 || c.Missing != 1 {
		t.Errorf("report %+v", c)
	}
	// Eight labels that half the entities have: the variances add up to 2.
	var many []string
	for i := range 16 {
		text := "z"
		for bit := range 8 {
			if (i>>(bit%4))&1 == 1 {
				text += fmt.Sprintf("|%d", bit)
			}
		}
		many = append(many, text)
	}
	_, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"tags:labels": many}, "tags:labels")
	if got := featureColumn(f, "tags=3")[8]; math.Abs(float64(got)-math.Sqrt(.5)) > 1e-6 {
		t.Errorf("a label is %v, want sqrt(1/2)", got)
	}
}

func TestDroppedColumns(t *testing.T) {
	_, f, r := fitColumns(t, EncodeOptions{}, map[string][]string{
		"none:": {"", "NA", ""}, "same:num": {"2", "2.0", "2"}, "word:cat": {"a", "b", "c"}, "one:cat": {"a", "a", "a"}, "day:date": {"2016-01-01", "01/01/2016", "20160101"}, "x:": {"1", "2", "3"},
	}, "none:", "same:num", "word:cat", "one:cat", "day:date", "x:")
	if !slices.Equal(f.Names, []string{"x"}) {
		t.Errorf("names %q", f.Names)
	}
	want := []string{
		`column "none" is left out: all values are missing`,
		`column "same" is left out: all values are alike (2)`,
		`column "word" is left out: each of its 3 levels has fewer than 2 entities`,
		`column "one" is left out: all values are alike`,
		`column "day" is left out: all dates are alike`,
	}
	if !slices.Equal(r.Notices, want) {
		t.Errorf("notices %q", r.Notices)
	}
	for i, c := range r.Columns {
		if c.Constant != (i < 5) || (c.Columns == 0) != (i < 5) {
			t.Errorf("column %+v", c)
		}
	}
	_, _, _, err := tryFit(EncodeOptions{}, map[string][]string{"same:num": {"2", "2"}}, "same:num")
	if err == nil || err.Error() != `s.csv: the side information of mode store says nothing: column "same" is left out: all values are alike (2); choose other columns or types` {
		t.Errorf("error %v", err)
	}
}

func TestBadValues(t *testing.T) {
	for _, tc := range []struct{ column, value, want string }{
		{"num", "tall", `s.csv, line 3, column "x", value "tall": this is not a number, which num needs; mend it, leave it empty, or give the column another type`},
		{"log", "-1", `s.csv, line 3, column "x", value "-1": a negative number has no logarithm; mend it, leave it empty, or give the column another type`},
		{"log", "z", `s.csv, line 3, column "x", value "z": this is not a number, which log needs; mend it, leave it empty, or give the column another type`},
		{"date", "13/13/2013", `s.csv, line 3, column "x", value "13/13/2013": this is not a date or a time; mend it, leave it empty, or give the column another type`},
		{"cycle12", "May", `s.csv, line 3, column "x", value "May": this is not a number, which cycle12 needs; mend it, leave it empty, or give the column another type`},
		{"num", "Inf", `s.csv, line 3, column "x", value "Inf": this number is infinite, or too large; mend it, leave it empty, or give the column another type`},
		{"log", "1e400", `s.csv, line 3, column "x", value "1e400": this number is infinite, or too large; mend it, leave it empty, or give the column another type`},
	} {
		j := mustOpenSide(t, "store=s.csv:x:"+tc.column, "store,x\n1,20160101\n2,"+tc.value+"\n", storeMode, "2", "1")
		if _, _, err := Fit(j, EncodeOptions{}); err == nil || err.Error() != tc.want {
			t.Errorf("error\n%v\nwant\n%s", err, tc.want)
		}
	}
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"x:log": {"1", "2"}}, "x:log")
	if _, err := e.Encode(dataset.NewFrame([]string{"x"}, []string{"0"})); err == nil || !strings.Contains(err.Error(), "zero has no logarithm, and no value was 0 when the column was fitted") {
		t.Errorf("error %v", err)
	}
	if _, err := e.Encode(dataset.NewFrame([]string{"y"}, []string{"0"})); err == nil || !strings.Contains(err.Error(), `column "x": the table has no such column`) {
		t.Errorf("error %v", err)
	}
}

// What is wrong with a mode's own column has no file to name.
func TestBadOwnValue(t *testing.T) {
	j := mustOpenSide(t, "store=@store:date", "", storeMode, "3", "4")
	const want = `column "store", value "3": this is not a date or a time; mend it, leave it empty, or give the column another type`
	if _, _, err := Fit(j, EncodeOptions{}); err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

// Of several wrong values the one told comes first in the file, whatever the
// order of the ids.
func TestFirstBadValue(t *testing.T) {
	j := mustOpenSide(t, "store=s.csv:x:num", "store,x\n1,1\n2,b\n3,c\n4,d\n", storeMode, "4", "1", "2", "3")
	if _, _, err := Fit(j, EncodeOptions{}); err == nil || !strings.Contains(err.Error(), `line 3, column "x", value "b"`) {
		t.Errorf("error %v", err)
	}
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"x:num": {"1", "2"}}, "x:num")
	if _, err := e.Encode(j.Rows); err == nil || !strings.Contains(err.Error(), `line 3, column "x", value "b"`) {
		t.Errorf("error %v", err)
	}
}

// A column that holds one value or none says who has it.
func TestOneValueOrNone(t *testing.T) {
	columns := map[string][]string{
		"flag:":     {"1", "", "1", "", "1", ""},
		"again:num": {"2", "", "2", "", "2", ""},
		"word:cat":  {"a", "b", "c", "d", "", "e"},
		"x:num":     {"1", "2", "3", "4", "5", "6"},
	}
	e, f, r := fitColumns(t, EncodeOptions{}, columns, "flag:", "again:num", "word:cat", "x:num")
	if want := []string{"flag missing", "word missing", "x"}; !slices.Equal(f.Names, want) {
		t.Fatalf("names %q", f.Names)
	}
	if got := featureColumn(f, "flag missing"); !near(got, 0, 1, 0, 1, 0, 1) {
		t.Errorf("flag is %v", got)
	}
	want := []string{`of column "flag" it only counts whether it is empty: all values are alike (1)`, `column "again" is left out: all values are alike (2)`,
		`of column "word" it only counts whether it is empty: each of its 5 levels has fewer than 2 entities`}
	if !slices.Equal(r.Notices, want) {
		t.Errorf("notices %q", r.Notices)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Encoder
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	g, err := back.Encode(dataset.NewFrame([]string{"flag", "word", "x"}, []string{"", "7"}, []string{"z", "z"}, []string{"1", "1"}))
	if err != nil || g.Row(0)[0] != 1 || g.Row(1)[0] != 0 || g.Row(0)[1] != 0 {
		t.Errorf("%v, %v", g.X, err)
	}
	// Entities without a row lack every column: that is no news of this one.
	j := mustOpenSide(t, "store=s.csv", "store,flag,x\n1,1,1\n2,1,2\n", storeMode, "1", "2", "3")
	if e, _, err = Fit(j, EncodeOptions{}); err != nil || !slices.Equal(e.Names(), []string{"x", "x missing"}) {
		t.Errorf("names %q, %v", e.Names(), err)
	}
}

// How rare a level may be follows the number of entities.
func TestRareLevels(t *testing.T) {
	repeat := func(times int, levels ...string) (values []string) {
		for _, level := range levels {
			values = append(values, slices.Repeat([]string{level}, times)...)
		}
		return values
	}
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz0123456789ABCD", "")
	for _, tc := range []struct {
		about  string
		values []string
		levels int // with a column of their own
	}{
		{"two levels over eight", repeat(4, "a", "b"), 2},
		{"a rare one of eight", append(repeat(7, "a"), "b"), 1},
		{"pairs among forty", append(repeat(18, "a", "b"), repeat(2, "c", "d")...), 4},
		{"four of two hundred are rare", append(repeat(98, "a", "b"), repeat(4, "c")...), 2},
		{"no level has more than three", repeat(3, letters...), 40},
		{"all different", letters, 0},
		{"nearly all different", append(repeat(2, "a"), append(letters, repeat(1, "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z")...)...), 0},
	} {
		x := make([]string, len(tc.values))
		for i := range x {
			x[i] = fmt.Sprint(i)
		}
		_, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"c:cat": tc.values, "x:num": x}, "c:cat", "x:num")
		got := 0
		for _, name := range f.Names {
			if strings.HasPrefix(name, "c=") {
				got++
			}
		}
		if got != tc.levels {
			t.Errorf("%s: names %q, want %d levels", tc.about, f.Names, tc.levels)
		}
	}
}

func TestGuessedTypes(t *testing.T) {
	skewed := []string{"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "3", "5", "6", "7", "9"}
	for _, tc := range []struct {
		name   string
		values []string
		want   Type
	}{
		{"lat", []string{"1.5", "", "-2"}, Num},
		{"price", skewed, Log},
		{"zip", []string{"50613", "712-2", "50543"}, Cat},
		{"zipCode", []string{"50613", "50543"}, Cat},
		{"month", []string{"1", "12"}, "cycle12"},
		{"month", []string{"1", "13"}, Num},
		{"hour", []string{"0", "23"}, "cycle24"},
		{"list_date", []string{"10/01/2016", "2016-10-01", ""}, Date},
		{"day", []string{"20161001", "20161002"}, Num},
		{"created_date", []string{"20161001", "20161002"}, Date},
		{"genres", []string{"a|b", "c"}, Labels},
		{"city", []string{"Ames", "12"}, Cat},
		{"none", []string{"", "NA"}, Num},
	} {
		if got, note := guessType(tc.name, tc.values, func(int) string { return "" }); got != tc.want || note != "" {
			t.Errorf("%s %q is %s, want %s (%s)", tc.name, tc.values, got, tc.want, note)
		}
	}
	values := append(slices.Repeat([]string{"1", "2"}, 20), "n.a.")
	got, note := guessType("size", values, func(i int) string { return fmt.Sprint("line ", i+2) })
	if got != Cat || note != `column "size" was taken as cat: 1 of 41 values are no numbers (the first is "n.a.", line 42); mend them and give it the type num` {
		t.Errorf("%s, %s", got, note)
	}
}

// TestEncoderRoundTrip: an encoder that was stored gives the same bits, and so
// does each row on its own.
func TestEncoderRoundTrip(t *testing.T) {
	columns := map[string][]string{"a:num": nil, "b:log": nil, "c:cat": nil, "d:labels": nil, "e:date": nil, "f:cycle7": nil}
	order := []string{"a:num", "b:log", "c:cat", "d:labels", "e:date", "f:cycle7"}
	for i := range 200 {
		for key, text := range map[string]string{"a:num": fmt.Sprint(math.Sin(float64(i))), "b:log": fmt.Sprint(1 + i*i), "c:cat": fmt.Sprint("c", i%30*i%30),
			"d:labels": fmt.Sprintf("l%d|m%d", i%7, i%11), "e:date": fmt.Sprintf("2016-%02d-%02d", i%12+1, i%28+1), "f:cycle7": fmt.Sprint(i)} {
			if (i+len(text))%17 == 0 {
				text = ""
			}
			columns[key] = append(columns[key], text)
		}
	}
	e, f, _ := fitColumns(t, EncodeOptions{MostLevels: 8}, columns, order...)
	stored, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var read Encoder
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 2, 77, 199} {
		one := &dataset.Frame{}
		for _, key := range slices.Backward(order) { // columns may stand in another order
			name, _, _ := strings.Cut(key, ":")
			one.Names = append(one.Names, name)
			one.Columns = append(one.Columns, columns[key][i:i+1])
		}
		g, err := read.Encode(one)
		if err != nil || !slices.Equal(g.X, f.Row(i)) || !slices.Equal(g.Names, f.Names) {
			t.Errorf("row %d is %v, was %v (%v)", i, g.X, f.Row(i), err)
		}
	}
	for _, damage := range []struct{ from, to, want string }{
		{`"version":1`, `"version":2`, "version 2 is not known"},
		{`"type":"num"`, `"type":"nmu"`, `unknown type "nmu"`},
		{`"sd":`, `"sd":-1,"was":`, "unknown field"},
		{`"buckets":2`, `"buckets":0`, "0 columns for"},
	} {
		bad := strings.Replace(string(stored), damage.from, damage.to, 1)
		if err := json.Unmarshal([]byte(bad), new(Encoder)); err == nil || !strings.Contains(err.Error(), damage.want) {
			t.Errorf("%s: error %v, want %s", damage.to, err, damage.want)
		}
	}
}

func TestSpecFor(t *testing.T) {
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"a:": {"1", "2"}, "b:": {"3", "3"}}, "a:", "b:")
	given, err := ParseSide("store=new.csv[key=id]")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.SpecFor(given)
	if err != nil || s.String() != "store=new.csv[key=id]:a:num" {
		t.Errorf("%s, %v", s, err)
	}
	if _, err := e.SpecFor(Spec{Mode: "store", Columns: []ColumnSpec{{"store", Num}}}); err == nil {
		t.Error("own columns in place of a table")
	}
}

func TestReplace(t *testing.T) {
	f := Features{N: 500, C: 4, X: make([]float32, 2000), Names: []string{"a", "b", "c", "d"}}
	one, err := Replace("constant", f, 1)
	if err != nil || slices.ContainsFunc(one.X, func(v float32) bool { return v != 1 }) || one.N != 500 || one.C != 4 {
		t.Errorf("%v", err)
	}
	noise, err := Replace("noise", f, 1)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for _, v := range noise.X {
		values = append(values, float64(v))
	}
	if mean, sd := meanAndDeviation(values); math.Abs(mean) > .1 || math.Abs(sd-1) > .1 {
		t.Errorf("mean %g, sd %g", mean, sd)
	}
	again, _ := Replace("noise", f, 1)
	other, _ := Replace("noise", f, 2)
	if !slices.Equal(again.X, noise.X) || slices.Equal(other.X, noise.X) || f.X[0] != 0 {
		t.Error("the seed does not decide, or the features were changed")
	}
	if _, err := Replace("nosie", f, 1); err == nil || !strings.Contains(err.Error(), `(did you mean "noise"?)`) {
		t.Errorf("error %v", err)
	}
}

// A period is in the units of the table: months 12 apart have the same row.
func TestPeriodOfEncodedColumn(t *testing.T) {
	var months, sizes []string
	for i := range 36 {
		months, sizes = append(months, fmt.Sprint(i+1)), append(sizes, "2")
	}
	sizes[3], sizes[15], sizes[27] = "3", "3", "3"
	_, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"size:cat": sizes, "month:num": months}, "size:cat", "month:num")
	k, err := kernel.Parse("periodic:12[month]")
	if err != nil {
		t.Fatal(err)
	}
	op, _, err := New("dual", f, k, Options{Backend: cpu.New(cpu.Generic, 1), Columns: 36})
	if err != nil {
		t.Fatal(err)
	}
	m := op.Columns()
	row := func(i int) []float32 { return op.Matrix()[i*m:][:m] }
	distance := func(a, b []float32) (sum float64) {
		for c := range a {
			sum += math.Pow(float64(a[c]-b[c]), 2)
		}
		return math.Sqrt(sum)
	}
	if same, other := distance(row(1), row(13)), distance(row(1), row(7)); same > 1e-3 || other < 0.1 {
		t.Errorf("rows of months 12 apart differ by %g, 6 apart by %g", same, other)
	}
}

// A kernel may name a column of categories, or a cycle, as a whole; a period in
// one is told.
func TestKernelsOnEncodedColumns(t *testing.T) {
	var months, cities, sizes []string
	for i := range 24 {
		months, cities, sizes = append(months, fmt.Sprint(i%12+1)), append(cities, []string{"Ames", "Boone", "Ely"}[i%3]), append(sizes, fmt.Sprint(i))
	}
	cities[4], sizes[5] = "", ""
	e, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"month:cycle12": months, "city:cat": cities, "size:num": sizes}, "month:cycle12", "city:cat", "size:num")
	for text, want := range map[string]string{
		"rbf[city]": "", "rbf[month]+matern12[size]": "", "rbf*periodic:12[size]": "",
		"periodic:12":                   "period in month (cycle12), city (cat)",
		"rbf+rbf*periodic:12[city]":     "period in city (cat)",
		"periodic:7[size]+periodic:3.5": "period in month (cycle12), city (cat)",
	} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.PeriodNotice(k)
		if err != nil || !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, %v, want something with %q", text, got, err, want)
		}
		op, _, err := New("dual", f, k, Options{Backend: cpu.New(cpu.Generic, 1), Columns: 24})
		if err != nil {
			t.Fatal(err)
		}
		meta, tensors := State(op)
		if _, err := Restore(cpu.New(cpu.Generic, 1), meta, tensors); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	e, _, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"month:cycle12": months, "same:num": slices.Repeat([]string{"1"}, 24)}, "month:cycle12", "same:num")
	if k, err := kernel.Parse("rbf[same]"); err != nil {
		t.Fatal(err)
	} else if _, err := e.PeriodNotice(k); err == nil || !strings.Contains(err.Error(), `column "same" was dropped because it carries no information`) {
		t.Errorf("a column that was left out: %v", err)
	}
	for _, name := range []string{"cities", "month tan"} {
		k, err := kernel.Parse("rbf[" + name + "]")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.PeriodNotice(k); err == nil || !strings.Contains(err.Error(), `unknown column "`+name+`"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k, err := kernel.Parse("rbf[city]")
	if err != nil {
		t.Fatal(err)
	}
	if k, err = kernel.Bind(k, f.columns()); err != nil {
		t.Fatal(err)
	}
	for c, name := range f.Names {
		if kernel.UsesColumn(k, c) != strings.HasPrefix(name, "city") {
			t.Errorf("rbf[city] and column %q", name)
		}
	}
}
