package sideinfo

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// fitColumns fits an encoder to columns, given as name:type and values, and encodes
// them.
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
		t.Fatalf("got names %q, want %q", f.Names, want)
	}
	root2 := math.Sqrt2
	for name, want := range map[string][]float64{
		"lat": {-1, 1, 0, 0}, "lat missing": {0, 0, 1, 1}, "price": {-root2, root2, 0, 0}, "stock": {-1, -1, 1, 1}, "opened": {-1, 1, -1, 1},
		"month cos": {1, 0, -1, 0}, "month sin": {0, 1, 0, 1. / 3}, "month missing": {0, 0, 0, 1},
	} {
		if got := featureColumn(f, name); !near(got, want...) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if c := r.Columns[0]; c.Missing != 2 || c.Columns != 2 || c.Guessed {
		t.Errorf("got report %+v, want 2 missing, 2 columns and a given type", c)
	}
	if err := f.check(); err != nil {
		t.Error(err)
	}
}

// Columns whose values are missing for the same entities share one indicator.
func TestSharedIndicator(t *testing.T) {
	_, f, _ := fitColumns(t, EncodeOptions{RareBelow: 1}, map[string][]string{"a:num": {"1", "2", ""}, "b:num": {"2", "1", ""}, "c:cat": {"x", "", "y"}}, "a:num", "b:num", "c:cat")
	if want := []string{"a", "a missing", "b", "c=x", "c=y", "c missing"}; !slices.Equal(f.Names, want) {
		t.Errorf("got names %q, want %q", f.Names, want)
	}
}

func TestDroppedColumns(t *testing.T) {
	_, f, r := fitColumns(t, EncodeOptions{}, map[string][]string{
		"none:": {"", "NA", ""}, "same:num": {"2", "2.0", "2"}, "word:cat": {"a", "b", "c"}, "one:cat": {"a", "a", "a"}, "day:date": {"2016-01-01", "01/01/2016", "20160101"}, "x:": {"1", "2", "3"},
	}, "none:", "same:num", "word:cat", "one:cat", "day:date", "x:")
	if want := []string{"x"}; !slices.Equal(f.Names, want) {
		t.Errorf("got names %q, want %q", f.Names, want)
	}
	want := []string{
		`column "none" is left out: all values are missing`,
		`column "same" is left out: all values are equal (2)`,
		`column "word" is left out: each of its 3 levels has fewer than 2 entities`,
		`column "one" is left out: all values are equal`,
		`column "day" is left out: all dates are equal`,
	}
	if !slices.Equal(r.Notices, want) {
		t.Errorf("got notices %q, want %q", r.Notices, want)
	}
	for i, c := range r.Columns {
		if c.Constant != (i < 5) || (c.Columns == 0) != (i < 5) {
			t.Errorf("got report %+v, want constant: %v", c, i < 5)
		}
	}
	_, _, _, err := tryFit(EncodeOptions{}, map[string][]string{"same:num": {"2", "2"}}, "same:num")
	const message = `s.csv: the side information of mode store has no usable column: column "same" is left out: all values are equal (2); choose other columns or types`
	if err == nil || err.Error() != message || fielderr.Path(err) != "side.tables" {
		t.Errorf("got error %v (field %q), want %s", err, fielderr.Path(err), message)
	}
}

// A column with a single value that some entities lack becomes its indicator.
func TestConstantColumnWithMissingValues(t *testing.T) {
	columns := map[string][]string{
		"flag:":     {"1", "", "1", "", "1", ""},
		"again:num": {"2", "", "2", "", "2", ""},
		"word:cat":  {"a", "b", "c", "d", "", "e"},
		"x:num":     {"1", "2", "3", "4", "5", "6"},
	}
	e, f, r := fitColumns(t, EncodeOptions{}, columns, "flag:", "again:num", "word:cat", "x:num")
	if want := []string{"flag missing", "word missing", "x"}; !slices.Equal(f.Names, want) {
		t.Fatalf("got names %q, want %q", f.Names, want)
	}
	if got := featureColumn(f, "flag missing"); !near(got, 0, 1, 0, 1, 0, 1) {
		t.Errorf("flag missing: got %v, want 0 1 0 1 0 1", got)
	}
	want := []string{`column "flag" is used only to mark missing values: all values are equal (1)`, `column "again" is left out: all values are equal (2)`,
		`column "word" is used only to mark missing values: each of its 5 levels has fewer than 2 entities`}
	if !slices.Equal(r.Notices, want) {
		t.Errorf("got notices %q, want %q", r.Notices, want)
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
		t.Errorf("got new rows %v, %v; want flag missing in the first", g.X, err)
	}
	// Entities without a row lack every column, so their missing values do not count.
	j := mustOpenSide(t, "store=s.csv", "store,flag,x\n1,1,1\n2,1,2\n", storeMode, "1", "2", "3")
	if e, _, err = Fit(j, EncodeOptions{}); err != nil || !slices.Equal(e.Names(), []string{"x", "x missing"}) {
		t.Errorf("got names %q, %v; want x and x missing", e.Names(), err)
	}
}
