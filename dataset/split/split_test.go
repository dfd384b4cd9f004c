package split

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

func tableOf(t *testing.T, text string, schema dataset.Schema) *dataset.Table {
	t.Helper()
	table, err := tableio.Read(context.Background(), tableio.Files(datasettest.WriteFile(t, "t.csv", text)), schema, tableio.Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func apply(t *testing.T, table *dataset.Table, spec string, seed uint64) *Split {
	t.Helper()
	s, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(s.String()); err != nil || again != s {
		t.Errorf("Parse(%q) has the text %q, which Parse reads as %+v, %v", spec, s, again, err)
	}
	split, err := s.Apply(table, seed)
	if err != nil {
		t.Fatal(err)
	}
	return split
}

var salesSchema = dataset.Schema{
	Target: "bottles",
	Modes:  []dataset.Mode{{Name: "store", Columns: []string{"store"}}, {Name: "item", Columns: []string{"item"}}, {Name: "time", Columns: []string{"year", "month"}}},
}

func sizes(s *Split) [4]int {
	return [4]int{s.Count(dataset.Train), s.Count(dataset.Valid), s.Count(dataset.Test), s.Count(dataset.Unused)}
}

func TestRandomSplit(t *testing.T) {
	t.Parallel()
	table := tableOf(t, string(datasettest.SalesText(1007, 1)), salesSchema)
	for spec, want := range map[string][4]int{
		"random:60/20/20":       {604, 202, 201, 0}, // 604.2, 201.4, 201.4: the remaining row goes to the first of the largest remainders
		"random:80/20":          {806, 201, 0, 0},
		"random:80/20/0":        {806, 201, 0, 0},
		"random:80/0/20":        {806, 0, 201, 0},
		"random:99.9/0.05/0.05": {1006, 1, 0, 0},
		"random:100/0/0":        {1007, 0, 0, 0},
	} {
		split := apply(t, table, spec, 1)
		if got := sizes(split); got != want {
			t.Errorf("%s gives %v, want %v", spec, got, want)
		}
	}
	a, b, c := apply(t, table, "random:60/20/20", 1), apply(t, table, "random:60/20/20", 1), apply(t, table, "random:60/20/20", 2)
	if !slices.Equal(a.Parts, b.Parts) || slices.Equal(a.Parts, c.Parts) {
		t.Error("another seed gives the same split, or the same seed another")
	}
	if a.Spec != "random:60/20/20" || a.Seed != 1 {
		t.Errorf("got specification %q, seed %d, want random:60/20/20, seed 1", a.Spec, a.Seed)
	}
}

func TestTimeSplit(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("year,month,store,y\n")
	for _, month := range []int{3, 11, 10, 1, 2, 12, 9, 4, 5, 6, 7, 8} { // not in chronological order
		for store := range 2 {
			fmt.Fprintf(&text, "2015,%d,%d,1\n", month, store)
		}
	}
	table := tableOf(t, text.String(), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "time=year+month,store")})
	parts := map[string]dataset.Part{}
	split := apply(t, table, "time:last=3", 0)
	for k, p := range split.Parts {
		parts[table.Dicts[0].ID(table.Codes[0][k])] = p
	}
	for month := 1; month <= 12; month++ {
		want := dataset.Train
		if month >= 10 {
			want = dataset.Test
		} else if month >= 7 {
			want = dataset.Valid
		}
		if got := parts[fmt.Sprintf("2015-%d", month)]; got != want {
			t.Errorf("month %d is %v, want %v", month, got, want)
		}
	}
	other := tableOf(t, text.String(), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "store,period=year+month")})
	if got := apply(t, other, "time:last=3", 0); !slices.Equal(got.Parts, split.Parts) {
		t.Error("without a mode called time the period is not used")
	}
	if got := apply(t, table, "time:last=3,mode=time", 0); !slices.Equal(got.Parts, split.Parts) {
		t.Error("naming the mode changes the split")
	}
}

func TestEntitySplit(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("store,item,y\n")
	for store := range 40 {
		for item := range 1 + store {
			fmt.Fprintf(&text, "s%d,%d,1\n", store, item)
		}
	}
	table := tableOf(t, text.String(), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "store,item")})
	split := apply(t, table, "entity:store=10%", 7)
	parts := map[int32]dataset.Part{}
	stores := map[dataset.Part]int{}
	for k, p := range split.Parts {
		code := table.Codes[0][k]
		if before, ok := parts[code]; ok && before != p {
			t.Fatal("a store is in two parts")
		} else if !ok {
			stores[p]++
		}
		parts[code] = p
	}
	if stores[dataset.Train] != 32 || stores[dataset.Valid] != 4 || stores[dataset.Test] != 4 {
		t.Errorf("got %v stores per part, want 32, 4 and 4", stores)
	}
	if other := apply(t, table, "entity:store=10%", 8); slices.Equal(other.Parts, split.Parts) {
		t.Error("another seed gives the same split, or the same seed another")
	}
}

func TestFileAndColumnSplit(t *testing.T) {
	t.Parallel()
	// Row 1 has no target; rows 0 and 3 are the same cell.
	text := "id,y,part\na,1,train\nb,,test\nc,2,valid\na,3,train\nd,4,test\n"
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Part: "part", Duplicates: "sum"}
	table := tableOf(t, text, schema)
	want := []dataset.Part{dataset.Train, dataset.Valid, dataset.Test}
	byColumn := apply(t, table, "column:part", 0)
	if !slices.Equal(byColumn.Parts, want) {
		t.Errorf("by column: got %v, want %v", byColumn.Parts, want)
	}
	var file bytes.Buffer
	if err := WriteParts(&file, table, byColumn.Parts); err != nil {
		t.Fatal(err)
	}
	if got, want := file.String(), "part\ntrain\nunused\nvalid\ntrain\ntest\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
	plain := datasettest.WriteFile(t, "parts.csv", strings.ReplaceAll(file.String(), "\n", "\r\n"))
	zipped := plain + ".gz"
	datasettest.WriteGzip(t, zipped, file.String())
	for _, path := range []string{plain, zipped} {
		if got := apply(t, table, "file:"+path, 0); !slices.Equal(got.Parts, want) {
			t.Errorf("%s: got %v, want %v", path, got.Parts, want)
		}
	}
	whole := tableOf(t, "id,y\na,1\nb,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")})
	file.Reset()
	if err := WriteParts(&file, whole, []dataset.Part{dataset.Test, dataset.Train}); err != nil || file.String() != "part\ntest\ntrain\n" {
		t.Errorf("got file %q, %v", file.String(), err)
	}
}

func TestErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"random":           `split "random": write it as one of random:60/20/20, time:last=3, entity:store=10%, column:part, file:split.csv`,
		"randon:80/20":     `split "randon:80/20": unknown kind "randon" (did you mean "random"?); write it as one of random:60/20/20, time:last=3, entity:store=10%, column:part, file:split.csv`,
		"random:80":        `split "random:80": write two or three percentages, as in random:60/20/20`,
		"random:80/30":     `split "random:80/30": the percentages add up to 110; they must add up to 100`,
		"random:a/b":       `split "random:a/b": "a" is not a percentage; write two or three, as in random:60/20/20`,
		"random:0/50/50":   `split "random:0/50/50": the training set is empty; the first percentage must be above 0`,
		"random:NaN/NaN":   `split "random:NaN/NaN": "NaN" is not a percentage; write two or three, as in random:60/20/20`,
		"time:last=0":      `split "time:last=0": last=0 is not a number of periods; write time:last=3`,
		"time:first=3":     `split "time:first=3": unknown option "first"; write time:last=3 or time:last=3,mode=month`,
		"time:mode=m":      `split "time:mode=m": the number of periods is missing; write time:last=3`,
		"entity:store":     `split "entity:store": write a mode and a percentage above 0 and below 50, as in entity:store=10%`,
		"entity:store=50%": `split "entity:store=50%": write a mode and a percentage above 0 and below 50, as in entity:store=10%`,
	} {
		if _, err := Parse(spec); err == nil || err.Error() != want {
			t.Errorf("Parse(%q): got error %v, want %s", spec, err, want)
		}
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"short": "part\ntrain\ntest\n", "header": "parts\ntrain\n", "value": "part\ntrain\n\ndev\n",
		"differ": "part\ntrain\ntrain\ntest\ntrain\n", "one": "part\ntest\ntest\ntest\ntest\n", "all": "part\ntrain\ntrain\ntrain\ntrain\n", "empty": ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := tableOf(t, "time,y\n1,1\n2,2\n1,3\n3,4\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "time"), Duplicates: "sum"})
	for spec, want := range map[string]string{
		"time:last=2":          `split time:last=2: mode time has 3 periods, which leaves none for training; choose last=1 or less`,
		"time:last=1,mode=tim": `split time:last=1,mode=tim: the table has no mode "tim" (did you mean "time"?); its modes are time`,
		"entity:shop=10%":      `split entity:shop=10%: the table has no mode "shop"; its modes are time`,
		"random:99/1":          `split random:99/1/0: all rows are in the training set (train 3, valid 0, test 0, unused 0); choose another split`,
		"file:none":            `none: no such file; check the path`,
		"file:empty":           `empty: the file is empty; give a table with a header and at least one row`,
		"file:short":           `short: the file has 2 parts, the table has 4 rows; give one line per row of the table, in its order`,
		"file:header":          `header, line 1, value "parts": the header of a split file must be part; start the file with a line "part"`,
		"file:value":           `value, line 4, column "part", value "dev": this is not a part; write train, valid, test or unused`,
		"file:differ":          `differ, column "part", value "test": rows 1 and 3 of the table are one cell (time=1) but have different parts; give all rows of a cell the same part, or set data.duplicates to keep, which does not merge them`,
		"file:one":             `split file:one: the training set is empty (train 0, valid 0, test 3, unused 0); choose another split`,
		"file:all":             `split file:all: all rows are in the training set (train 3, valid 0, test 0, unused 0); choose another split`,
	} {
		s, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(table, 0); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", spec, err, want)
		}
	}
	few := tableOf(t, "id,y\na,1\nb,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")})
	pairs := tableOf(t, "user,movie,y\na,m1,1\nb,m2,2\na,m3,1\nb,m4,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "user,movie")})
	s, _ := Parse("time:last=1")
	if _, err := s.Apply(pairs, 0); err == nil || err.Error() != "split time:last=1: none of the modes user, movie is a time; add one, or name the one whose ids follow each other, as in time:last=1,mode=movie" {
		t.Errorf("without a time: got error %v", err)
	}
	two := tableOf(t, "time,y\n2022-01,1\n2022-02,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "time")})
	if _, err := s.Apply(two, 0); err == nil || err.Error() != "split time:last=1: mode time has 2 periods, which leaves none for training; a split by time needs 3 or more, for training, validation and test set" {
		t.Errorf("two periods: got error %v", err)
	}
	dotted := tableOf(t, "shop,when,y\na,30.1.22,1\na,31.1.22,2\na,1.2.22,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "shop,when")})
	if _, err := s.Apply(dotted, 0); err == nil || !strings.HasSuffix(err.Error(), "; if they are dates in the order dmy, write when=date(dmy(when))") {
		t.Errorf("dates that need an order: got error %v", err)
	}
	if s, _ := Parse("time:last=1,mode=movie"); !slices.Contains(apply(t, pairs, s.String(), 0).Parts, dataset.Test) {
		t.Error("a mode that is named is not used")
	}
	twice := tableOf(t, "time,y\n2024-06-01T01:00Z,1\n2024-06-01T03:00+02:00,2\n2024-06-01T02:00Z,1\n2024-06-01T03:00Z,2\n", dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "time")})
	want := `mode time: the ids "2024-06-01T01:00Z" and "2024-06-01T03:00+02:00" are the same hour, so its cells have several values; write them in the same way`
	if _, err := s.Apply(twice, 0); err == nil || err.Error() != want {
		t.Errorf("one hour with two ids: got error %v, want %s", err, want)
	}
	s, _ = Parse("entity:id=10%")
	if _, err := s.Apply(few, 0); err == nil || err.Error() != "split entity:id=10%: mode id has 2 ids, too few to hold any out; choose another split" {
		t.Errorf("too few ids: got error %v", err)
	}
}

// In these ids the month precedes the year, but the year is the coarser unit.
func TestTimeSplitOfMonthAndYear(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("month,year,y\n")
	for year := 2015; year <= 2016; year++ {
		for month := 1; month <= 12; month++ {
			fmt.Fprintf(&text, "%d,%d,1\n", month, year)
		}
	}
	table := tableOf(t, text.String(), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "time=month+year")})
	split := apply(t, table, "time:last=3", 0)
	for k, p := range split.Parts {
		want := dataset.Train
		if k >= 21 {
			want = dataset.Test
		} else if k >= 18 {
			want = dataset.Valid
		}
		if p != want {
			t.Errorf("month %d is %v, want %v", k, p, want)
		}
	}
	if split.Periods[dataset.Test] != "10-2016 to 12-2016" || split.Periods[dataset.Valid] != "7-2016 to 9-2016" || split.Periods[dataset.Train] != "1-2015 to 6-2016" {
		t.Errorf("got periods %v", split.Periods)
	}
}

func TestLastPeriods(t *testing.T) {
	for text, want := range map[string]int{"time:last=3": 3, "time:last=12,mode=week": 12, "random:60/20/20": 0, "entity:store=10%": 0, "time:": 0, "": 0} {
		if got := LastPeriods(text); got != want {
			t.Errorf("%q: got %d periods, want %d", text, got, want)
		}
	}
}
