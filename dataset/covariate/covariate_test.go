package covariate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

func TestValue(t *testing.T) {
	t.Parallel()
	comma, err := dataset.ParseNumberFormat("comma", "point")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text   string
		format dataset.NumberFormat
		want   float64
		ok     bool
	}{
		{text: "3.50", want: 3.5, ok: true},
		{text: "-0", want: 0, ok: true},
		{text: "", want: math.NaN(), ok: true},
		{text: "n/a", want: math.NaN(), ok: true},
		{text: "12.5%", want: 12.5, ok: true},
		{text: "12 %", want: 12, ok: true},
		{text: "%"},
		{text: "low"}, {text: "inf"}, {text: "1e39"},
		{text: "1.234,5 €", format: comma, want: 1234.5, ok: true},
		{text: "1.234", format: comma, want: 1234, ok: true},
	} {
		got, ok := Value(c.text, c.format)
		if ok != c.ok || ok && got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%q: got %v %v, want %v %v", c.text, got, ok, c.want, c.ok)
		}
	}
	if Text(math.Copysign(0, -1)) != "0" || Text(math.NaN()) != dataset.MissingID || Text(3.5) != "3.5" {
		t.Error("texts of numbers are not canonical")
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	few, bin := cut([]float64{1, 2, 5}, []int{10, 1, 3})
	if !slices.Equal(few, []float64{1, 2, 5}) || !slices.Equal(bin, []int{0, 1, 2}) {
		t.Errorf("few values: %v %v", few, bin)
	}
	values, rows := make([]float64, 10_000), make([]int, 10_000)
	for i := range values {
		values[i], rows[i] = float64(i), 1
	}
	rows[0] = 10_000 // a frequent value
	centres, bin := cut(values, rows)
	if len(centres) > MaxBins || len(centres) < MaxBins/2 || centres[0] != 0 || bin[1] != 1 {
		t.Errorf("%d bins, the first at %v", len(centres), centres[0])
	}
	widest := 0
	for b := 1; b < len(centres); b++ {
		n := 0
		for _, at := range bin {
			if at == b {
				n++
			}
		}
		widest = max(widest, n)
	}
	if widest > 80 {
		t.Errorf("a bin holds %d of 9,999 values", widest)
	}
}

// TestCutEnds checks that bins at the ends of a column, where values are far apart, are not much
// wider than others: with equally many rows they had a third of the range, and the square of a
// normal covariate was fitted with 2.5 times the error of the noise.
func TestCutEnds(t *testing.T) {
	t.Parallel()
	const n = 20_000
	values, rows := make([]float64, n), make([]int, n)
	for i := range values {
		p := (float64(i) + 0.5) / n
		values[i], rows[i] = math.Log(p/(1-p)), 1 // logistic
	}
	for _, skewed := range []bool{false, true} {
		at := func(v float64) float64 { return v }
		if skewed {
			for i, v := range values {
				values[i] = math.Exp(v)
			}
			at = math.Log
		}
		centres, bin := cut(values, rows)
		if len(centres) > MaxBins || bin[n-1] != len(centres)-1 {
			t.Fatalf("skewed %t: %d bins, the last value in bin %d", skewed, len(centres), bin[n-1])
		}
		low, width := 0, 0.0
		for i := 1; i < n; i++ {
			if bin[i] != bin[low] {
				low = i
			}
			width = max(width, at(values[i])-at(values[low]))
		}
		if all := at(values[n-1]) - at(values[0]); width > 1.01*all/widthBins {
			t.Errorf("skewed %t: the widest of %d bins has %.3f of the range", skewed, len(centres), width/all)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	g := GridOf([]string{"2", "1", dataset.MissingID, "4"})
	for v, want := range map[float64]string{1: "1", 2: "2", 4: "4", 1.5: "1.5", 3: "3", 0.5: "0.5", 5: "5", 1.00001: "1", 3.9999: "4", 1e9: "36"} {
		if got := g.ID(v); got != want {
			t.Errorf("id of %v: got %s, want %s", v, got, want)
		}
	}
	if g.ID(math.NaN()) != dataset.MissingID {
		t.Error("a missing value has another id")
	}
	if g.Within(0.9) || !g.Within(4) || g.Within(4.1) {
		t.Error("range")
	}
	seen := map[string]bool{}
	for v := -100.0; v < 100; v += 0.001 {
		seen[g.ID(v)] = true
	}
	if len(seen) > 2500 {
		t.Errorf("%d ids", len(seen))
	}
	if id := g.ID(0.0004); strings.HasPrefix(id, "-") || id == "0" {
		t.Errorf("a positive number became %s", id)
	}
}

func TestSkewed(t *testing.T) {
	t.Parallel()
	var prices, degrees []string
	for i := range 100 {
		prices = append(prices, Text(math.Exp(float64(i)/20)))
		degrees = append(degrees, Text(float64(i)-20))
	}
	if !GridOf(prices).Skewed() || GridOf(degrees).Skewed() {
		t.Error("skewness")
	}
}

// table returns a table of one mode and one covariate whose fields are given.
func table(function string, fields ...string) *dataset.Table {
	dict := dataset.NewDict(nil)
	t := &dataset.Table{Modes: []dataset.Mode{{Name: "item", Columns: []string{"item"}}, {Name: "price", Columns: []string{"price"}, Func: function}},
		Dicts: []*dataset.Dict{dataset.NewDict([]string{"a", "b"}), dict}, Codes: make([][]int32, 2)}
	for i, text := range fields {
		code, ok := dict.Code([]byte(text))
		if !ok {
			code = dict.Add(text)
		}
		t.Codes[0], t.Codes[1], t.Y = append(t.Codes[0], int32(i%2)), append(t.Codes[1], code), append(t.Y, 1)
	}
	return t
}

func TestEncode(t *testing.T) {
	t.Parallel()
	many := strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 NA 1.0")
	for _, c := range []struct {
		name, function string
		fields         []string
		want           string // the function
		ids            []string
		codes          []int32
	}{
		{"numbers", "number", []string{"2.50", "NA", "1", "2.5", "null"}, "number", []string{"1", "2.5", "NA"}, []int32{1, 2, 0, 1, 2}},
		{"levels", "level", []string{"yes", "NA", "no", "n/a"}, "level", []string{"yes", "NA", "no"}, []int32{0, 1, 2, 1}},
		{"open, few numbers", "covariate", []string{"0", "1", "0", ""}, "level", []string{"0", "1", "NA"}, []int32{0, 1, 0, 2}},
		{"open, text", "covariate", []string{"0", "1", "x"}, "level", []string{"0", "1", "x"}, []int32{0, 1, 2}},
		{"open, many numbers", "covariate", many, "number",
			strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 NA"), []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 0}},
	} {
		tab := table(c.function, c.fields...)
		if err := Encode(tab, "t.csv", dataset.NumberFormat{}); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := tab.Modes[1].Func; got != c.want || !slices.Equal(tab.Dicts[1].IDs(), c.ids) || !slices.Equal(tab.Codes[1], c.codes) {
			t.Errorf("%s: got %s %v %v", c.name, got, tab.Dicts[1].IDs(), tab.Codes[1])
		}
	}
}

func TestEncodeErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tab  *dataset.Table
		want string
	}{
		{table("number", "1", "cheap", "2", "cheap"), `t.csv: data row 2, column price: "cheap" is not a finite number, which number(price) requires (2 rows have it)`},
		{table("number", "12.5%", "0", "0.125", "3%"), `t.csv: column price: some values have a percent sign, as "12.5%" in data row 1, and others have none, as "0.125" in data row 3, so that their unit is unknown; write all`},
		{table("number", "1", "1.0"), "only one value"},
		{table("level", "", "NA"), "only one value"},
		{table("number", "1000000000001", "1000000000002"), "single precision"},
	} {
		err := Encode(c.tab, "t.csv", dataset.NumberFormat{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestAddPoints(t *testing.T) {
	t.Parallel()
	tab := table("number", "1", "2.5", "NA", "1", "-3")
	width := table("number", "4", "4", "5", "4", "5")
	tab.Modes, tab.Dicts, tab.Codes = append(tab.Modes, dataset.Mode{Name: "width", Columns: []string{"width"}, Func: "number"}), append(tab.Dicts, width.Dicts[1]), append(tab.Codes, width.Codes[1])
	if err := Encode(tab, "t.csv", dataset.NumberFormat{}); err != nil {
		t.Fatal(err)
	}
	if err := AddPoints(tab, dataset.JointMode([]string{"price", "width"})); err != nil {
		t.Fatal(err)
	}
	if got := tab.Dicts[3].IDs(); !slices.Equal(got, []string{"1|4", "2.5|4", "NA", "-3|5"}) || !slices.Equal(tab.Codes[3], []int32{0, 1, 2, 0, 3}) {
		t.Errorf("got %q %v", got, tab.Codes[3])
	}
	if err := AddPoints(tab, dataset.JointMode([]string{"price", "item"})); err == nil || !strings.Contains(err.Error(), "item is not a covariate of numbers") {
		t.Errorf("got %v, want an error that names item", err)
	}
}

// TestNoLogarithm checks that 0 and negative numbers have a place below skewed ones, which are compared by their logarithms.
func TestNoLogarithm(t *testing.T) {
	t.Parallel()
	grid := GridOf([]string{"0.5", "1", "2", "4", "8", "16", "32"})
	for _, v := range []float64{0, -3} {
		if got := grid.ID(v); got != "0.25" {
			t.Errorf("%g: got the id %s, want 0.25", v, got)
		}
	}
	if got := GridOf([]string{"0", "1", "2", "4", "8", "16", "32"}).ID(-3); got != "0" {
		t.Errorf("got the id %s of -3, want 0", got)
	}
	if got := GridOf([]string{"1", "2", "3", "4", "5"}).ID(-3); got != "-3" {
		t.Errorf("got the id %s of a number that needs no logarithm, want -3", got)
	}
}

// Points are formed by the numbers of rows, not by the centres of the bins that join them.
func TestPointsAreExact(t *testing.T) {
	t.Parallel()
	const rows = 2000
	rng := rand.New(rand.NewPCG(6, 6))
	table := &dataset.Table{Y: make([]float32, rows), Codes: make([][]int32, 2)}
	var values [2][]string
	for m, name := range []string{"a", "b"} {
		var ids []string
		for k := range rows {
			ids = append(ids, strconv.FormatFloat(rng.NormFloat64(), 'f', 9, 64))
			table.Codes[m] = append(table.Codes[m], int32(k))
		}
		mode, err := dataset.ParseMode("number(" + name + ")")
		if err != nil {
			t.Fatal(err)
		}
		values[m] = ids
		table.Modes, table.Dicts = append(table.Modes, mode), append(table.Dicts, dataset.NewDict(slices.Clone(ids)))
	}
	if err := Encode(table, "table", dataset.NumberFormat{}); err != nil {
		t.Fatal(err)
	}
	if err := AddPoints(table, dataset.LinearMode([]string{"a", "b"})); err != nil {
		t.Fatal(err)
	}
	for k := range rows {
		numbers := table.Modes[2].Numbers(table.Dicts[2].ID(table.Codes[2][k]))
		for m, grid := range []*Grid{GridOf(table.Dicts[0].IDs()), GridOf(table.Dicts[1].IDs())} {
			v, _ := strconv.ParseFloat(values[m][k], 64) // some are beyond the outermost centres
			if want := grid.Exact(v); numbers[m] != want || want != Text(v) {
				t.Fatalf("row %d: got the number %s of %s, want %s", k, numbers[m], values[m][k], want)
			}
		}
	}
}

// A number far beyond the outermost centres, or without a logarithm that its grid needs, has the id that it has as one number.
func TestExactAsFarAsTheGrid(t *testing.T) {
	t.Parallel()
	plain, skewed := GridOf([]string{"-1", "0", "2", "3"}), GridOf([]string{"1", "10", "100", "1000", "10000", "100000"})
	for _, test := range []struct {
		g    *Grid
		v    float64
		want string
	}{
		{plain, 1.2345678, "1.2345678"}, {plain, 7.654321, "7.654321"}, {plain, -3.14159, "-3.14159"},
		{plain, 1e6, plain.ID(1e6)}, {plain, math.NaN(), dataset.MissingID}, {plain, NoRow, dataset.NoRowID},
		{skewed, 0.123456, "0.123456"}, {skewed, -4.56789, skewed.ID(-4.56789)}, {GridOf(nil), 5, "5"},
	} {
		if got := test.g.Exact(test.v); got != test.want {
			t.Errorf("%g: got %s, want %s", test.v, got, test.want)
		}
	}
}
