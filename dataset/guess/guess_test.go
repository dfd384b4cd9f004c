package guess_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

func TestTargetAndModes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	iowa, movies := datasettest.DevelopmentFile("iowa-liquor/sales_2015_2016.csv.gz"), datasettest.DevelopmentFile("movielens-small/ratings.csv")
	if iowa == "" {
		iowa = datasettest.WriteFile(t, filepath.Join(dir, "sales.csv"), string(datasettest.SalesText(3000, 1)))
	}
	if movies == "" {
		movies = datasettest.WriteFile(t, filepath.Join(dir, "ratings.csv"),
			"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n2,31,4.0,835355493\n2,1029,1.0,835355681\n3,31,3.0,835355500\n3,1029,3.5,835355600\n")
	}
	for _, tc := range []struct {
		path, target string
		modes        []string
	}{
		{iowa, "bottles", []string{"store", "item", "time=year+month"}},
		{movies, "rating", []string{"userId", "movieId", "hour(timestamp)", "date(timestamp)"}},
		{datasettest.WriteFile(t, filepath.Join(dir, "a.csv"), "shop;city;date;sold\nA;Ames;2015-01-01;3\nB;Boone;2015-01-01;4\nA;Ames;2015-01-02;5\nB;Boone;2015-01-02;6\nC;Ames;2015-01-01;7\nC;Ames;2015-01-02;8\n"),
			"sold", []string{"shop", "time=date"}},
		{datasettest.WriteFile(t, filepath.Join(dir, "b.csv"), "1\t10\t2.5\n1\t11\t3\n2\t10\t4.5\n2\t11\t1\n"), "c3", []string{"c1", "c2"}},
		{datasettest.WriteFile(t, filepath.Join(dir, "d.csv"), "\"shop, id\";a+b;date (UTC);sold\nA;p;2015-01-01;3\nB;q;2015-01-01;4\nA;q;2015-01-02;5\nB;p;2015-01-02;6\n"),
			"sold", []string{`mode1="shop, id"`, `mode2="a+b"`, `time="date (UTC)"`}},
		{datasettest.WriteFile(t, filepath.Join(dir, "c.csv"), "name\nx\ny\n"), "", nil},
	} {
		g, err := tableio.GuessColumns(tableio.Files(tc.path), tableio.Format{})
		if g == nil || (err == nil) != (tc.target != "") {
			t.Fatal(err)
		}
		if g.Target != tc.target || !slices.Equal(g.Modes, tc.modes) {
			t.Errorf("%s: got target %q, modes %q; want %q, %q\n%+v", filepath.Base(tc.path), g.Target, g.Modes, tc.target, tc.modes, g.Columns)
		}
		for _, m := range g.Modes {
			if _, err := dataset.ParseMode(m); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	path := datasettest.WriteFile(t, "t.csv", "store,price,note,when,sold\n1,2.5,good,1/1/2015,7\n2,NA,bad,1/2/2015,8\n1,-1,,1/3/2015,9\n2,3,x,1/4/2015,10\n")
	g, err := tableio.GuessColumns(tableio.Files(path), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	want := []guess.Column{
		{Name: "store", Kind: guess.KindID, Distinct: 2, Min: 1, Max: 2, Integer: true},
		{Name: "price", Kind: guess.KindNumber, Distinct: 3, Missing: 1, Min: -1, Max: 3},
		{Name: "note", Kind: guess.KindText, Distinct: 3, Missing: 1},
		{Name: "when", Kind: guess.KindDate, Distinct: 4},
		{Name: "sold", Kind: guess.KindNumber, Distinct: 4, Min: 7, Max: 10, Integer: true},
	}
	if !reflect.DeepEqual(g.Columns, want) {
		t.Errorf("got columns\n%+v\nwant\n%+v", g.Columns, want)
	}
	if g.Rows != 4 || g.Format != (tableio.Format{Delimiter: ',', Header: delimited.HeaderYes}) || g.Target != "sold" {
		t.Errorf("got %+v, want 4 rows, a comma, a header and target sold", g)
	}
	if g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "v.csv", "id,y\n1,16777217\n2,NaN\n1,3\n")), tableio.Format{}); err != nil || g.Columns[1].Max != 16777217 || g.Columns[1].Missing != 0 || g.Columns[1].NotNumberLine != 3 {
		t.Errorf("got %+v, %v, want a maximum of 16777217 and NaN in line 3, as for a fit", g, err)
	}
	if _, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "u.csv", "a,b\n")), tableio.Format{}); err == nil {
		t.Error("a table without rows gives no error")
	}
}

// Numbers of which only some have a percent sign have no known unit.
// A target of which several rows have the same number of nines, far from the others, may have missing values.
func TestPlaceholder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		values []string
		found  string
	}{
		{[]string{"-999", "-999"}, "2 values of the target sold are -999,"},
		{[]string{"-999.0", "-999.0", "-999.0"}, "3 values of the target sold are -999.0,"},
		{[]string{"9999", "9999"}, "2 values of the target sold are 9999,"},
		{[]string{"-99", "-99", "9999", "9999"}, "2 values of the target sold are 9999,"},
		{[]string{"-999"}, ""},     // once may be a mistake
		{[]string{"99", "99"}, ""}, // not far from 60
		{[]string{"-998", "-998"}, ""},
		{[]string{"-99", "-99"}, "2 values of the target sold are -99,"},
		{[]string{"NA", "NA"}, ""},
	} {
		var text strings.Builder
		text.WriteString("shop,item,sold\n")
		for i := range 60 {
			value := fmt.Sprint(i + 1)
			if i < len(tc.values) {
				value = tc.values[i]
			}
			fmt.Fprintf(&text, "s%d,i%d,%s\n", i%6, i/6, value)
		}
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text.String())), tableio.Format{})
		if err != nil {
			t.Fatal(err)
		}
		notes := slices.DeleteFunc(slices.Clone(g.Notes), func(note string) bool { return !strings.Contains(note, "stands for a missing value") })
		if g.Target != "sold" || len(notes) > 1 || (len(notes) == 1) != (tc.found != "") || !strings.HasPrefix(strings.Join(notes, ""), tc.found) {
			t.Errorf("%q: got the target %s and the notes %q, want %q", tc.values, g.Target, notes, tc.found)
		}
	}
}

func TestMixedPercents(t *testing.T) {
	t.Parallel()
	table := func(rate, discount func(i int) string) string {
		var b strings.Builder
		b.WriteString("shop,month,discount,rate\n")
		for i := range 80 {
			fmt.Fprintf(&b, "S%d,2024-%02d,%s,%s\n", i/10, 1+i%10, discount(i), rate(i))
		}
		return b.String()
	}
	plain := func(i int) string { return fmt.Sprintf("0.%03d", i*37%1000) }
	percent := func(i int) string { return fmt.Sprintf("%d.5%%", i*37%100) }
	mixed := func(i int) string {
		if i == 1 || i > 40 {
			return plain(i)
		}
		return percent(i)
	}
	read := func(text string) (*tableio.Guess, error) {
		return tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text)), tableio.Format{})
	}
	if g, err := read(table(percent, percent)); err != nil || g.Target != "rate" || g.Columns[3].Max != 99.5 {
		t.Errorf("percentages: got target %q up to %v, %v", g.Target, g.Columns[3].Max, err)
	}
	_, err := read(table(mixed, plain))
	want := `t.csv, column "rate": some values have a percent sign, as "0.5%" in line 2, and others have none, as "0.037" in line 3, so that their unit is unknown; write all of them with a percent sign or all without`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
	g, err := read(table(plain, mixed))
	if err != nil || len(g.LeftOut) != 1 || !strings.Contains(g.LeftOut[0].Reason, `"0.5%" in line 2`) || g.LeftOut[0].Covariate {
		t.Errorf("got %+v, %v; want the mixed discount with its lines", g.LeftOut, err)
	}
}

// TestRepeatedCellsInParts checks the rule for ratings of the same cell: their mean, or
// all of them where a column says which part a row is in.
func TestRepeatedCellsInParts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("user,movie,rating,part\n")
	for i := range 42 {
		fmt.Fprintf(&text, "u%d,m%d,%d,%s\n", i%5, i%8, 1+i%3, []string{"train", "test"}[i%2])
	}
	for parts, want := range map[bool]string{false: "mean", true: "keep"} {
		g, err := tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{Target: "rating", Parts: parts})
		if err != nil || g.Duplicates != want {
			t.Errorf("parts given: %v: got the rule %q, %v, want %s", parts, g.Duplicates, err, want)
		}
	}
}

// A mode that the table cannot give, as one with a typing error, does not make the others columns
// that are left out.
func TestLeftOutBesideGivenModes(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("store,item,units\n")
	for i := range 60 {
		fmt.Fprintf(&text, "s%d,i%d,%d.5\n", i%6, i/6, i)
	}
	for _, other := range []string{"itm", "lag(1)"} {
		g, err := tableio.GuessWith(tableio.Reader("t.csv", strings.NewReader(text.String())), tableio.Format{}, guess.Given{Modes: []string{"store", other}})
		if err != nil {
			t.Fatal(err)
		}
		if len(g.LeftOut) != 1 || g.LeftOut[0].Column != "item" {
			t.Errorf("with the modes store and %s, left out are %+v; want item alone", other, g.LeftOut)
		}
	}
}
