package dataset

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func tableOf(t *testing.T, text string, schema Schema) *Table {
	t.Helper()
	table, err := Read(context.Background(), []string{writeFile(t, "t.csv", text)}, schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func apply(t *testing.T, table *Table, spec string, seed uint64) *Split {
	t.Helper()
	s, err := ParseSplit(spec)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseSplit(s.String()); err != nil || again != s {
		t.Errorf("%q is written %q, which reads as %+v, %v", spec, s, again, err)
	}
	split, err := s.Apply(table, seed)
	if err != nil {
		t.Fatal(err)
	}
	return split
}

func sizes(s *Split) [4]int {
	return [4]int{s.Count(Train), s.Count(Valid), s.Count(Test), s.Count(Unused)}
}

func TestRandomSplit(t *testing.T) {
	table := tableOf(t, string(BenchmarkText(1007, 1)), iowaSchema)
	for spec, want := range map[string][4]int{
		"random:60/20/20":       {604, 202, 201, 0}, // 604.2, 201.4, 201.4: the spare row goes to the first of the largest remainders
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
		t.Error("the split does not go by the seed")
	}
	if a.Spec != "random:60/20/20" || a.Seed != 1 {
		t.Errorf("recorded as %q, seed %d", a.Spec, a.Seed)
	}
}

func TestTimeSplit(t *testing.T) {
	var text strings.Builder
	text.WriteString("year,month,store,y\n")
	for _, month := range []int{3, 11, 10, 1, 2, 12, 9, 4, 5, 6, 7, 8} { // not in order
		for store := range 2 {
			fmt.Fprintf(&text, "2015,%d,%d,1\n", month, store)
		}
	}
	table := tableOf(t, text.String(), Schema{Target: "y", Modes: modes(t, "time=year+month,store")})
	parts := map[string]Part{}
	split := apply(t, table, "time:last=3", 0)
	for k, p := range split.Parts {
		parts[table.Dicts[0].ID(table.Codes[0][k])] = p
	}
	for month := 1; month <= 12; month++ {
		want := Train
		if month >= 10 {
			want = Test
		} else if month >= 7 {
			want = Valid
		}
		if got := parts[fmt.Sprintf("2015-%d", month)]; got != want {
			t.Errorf("month %d is %v, want %v", month, got, want)
		}
	}
	other := tableOf(t, text.String(), Schema{Target: "y", Modes: modes(t, "store,period=year+month")})
	if got := apply(t, other, "time:last=3", 0); !slices.Equal(got.Parts, split.Parts) {
		t.Error("without a mode called time the last is not taken")
	}
	if got := apply(t, table, "time:last=3,mode=time", 0); !slices.Equal(got.Parts, split.Parts) {
		t.Error("the mode's name changes the split")
	}
}

func TestEntitySplit(t *testing.T) {
	var text strings.Builder
	text.WriteString("store,item,y\n")
	for store := range 40 {
		for item := range 1 + store {
			fmt.Fprintf(&text, "s%d,%d,1\n", store, item)
		}
	}
	table := tableOf(t, text.String(), Schema{Target: "y", Modes: modes(t, "store,item")})
	split := apply(t, table, "entity:store=10%", 7)
	parts := map[int32]Part{}
	stores := map[Part]int{}
	for k, p := range split.Parts {
		code := table.Codes[0][k]
		if before, ok := parts[code]; ok && before != p {
			t.Fatal("a store is in two parts")
		} else if !ok {
			stores[p]++
		}
		parts[code] = p
	}
	if stores[Train] != 32 || stores[Valid] != 4 || stores[Test] != 4 {
		t.Errorf("stores by part: %v", stores)
	}
	if other := apply(t, table, "entity:store=10%", 8); slices.Equal(other.Parts, split.Parts) {
		t.Error("the split does not go by the seed")
	}
}

func TestFileAndColumnSplit(t *testing.T) {
	// Row 1 has no target; rows 0 and 3 are one cell.
	text := "id,y,part\na,1,train\nb,,test\nc,2,valid\na,3,train\nd,4,test\n"
	schema := Schema{Target: "y", Modes: modes(t, "id"), Part: "part", Duplicates: "sum"}
	table := tableOf(t, text, schema)
	want := []Part{Train, Valid, Test}
	byColumn := apply(t, table, "column:part", 0)
	if !slices.Equal(byColumn.Parts, want) {
		t.Errorf("by column %v", byColumn.Parts)
	}
	var file bytes.Buffer
	if err := WriteParts(&file, table, byColumn.Parts); err != nil {
		t.Fatal(err)
	}
	if got, want := file.String(), "part\ntrain\nunused\nvalid\ntrain\ntest\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
	plain := writeFile(t, "parts.csv", strings.ReplaceAll(file.String(), "\n", "\r\n"))
	zipped := plain + ".gz"
	writeGzip(t, zipped, file.String())
	for _, path := range []string{plain, zipped} {
		if got := apply(t, table, "file:"+path, 0); !slices.Equal(got.Parts, want) {
			t.Errorf("%s gives %v", path, got.Parts)
		}
	}
	whole := tableOf(t, "id,y\na,1\nb,2\n", Schema{Target: "y", Modes: modes(t, "id")})
	file.Reset()
	if err := WriteParts(&file, whole, []Part{Test, Train}); err != nil || file.String() != "part\ntest\ntrain\n" {
		t.Errorf("file %q, %v", file.String(), err)
	}
}

func TestBadSplits(t *testing.T) {
	for spec, want := range map[string]string{
		"random":           `split "random": write it as one of random:60/20/20, time:last=3, entity:store=10%, column:part, file:split.csv`,
		"randon:80/20":     `split "randon:80/20": unknown kind "randon" (did you mean "random"?); write it as one of random:60/20/20, time:last=3, entity:store=10%, column:part, file:split.csv`,
		"random:80":        `split "random:80": write two or three percentages, as in random:60/20/20`,
		"random:80/30":     `split "random:80/30": the percentages add up to 110; they must to 100`,
		"random:a/b":       `split "random:a/b": "a" is not a percentage; write two or three, as in random:60/20/20`,
		"random:0/50/50":   `split "random:0/50/50": nothing is left to train on; the first percentage must be above 0`,
		"random:NaN/NaN":   `split "random:NaN/NaN": "NaN" is not a percentage; write two or three, as in random:60/20/20`,
		"time:last=0":      `split "time:last=0": last=0 is not a number of periods; write time:last=3`,
		"time:first=3":     `split "time:first=3": unknown option "first"; write time:last=3 or time:last=3,mode=month`,
		"time:mode=m":      `split "time:mode=m": the number of periods is missing; write time:last=3`,
		"entity:store":     `split "entity:store": write a mode and a percentage above 0 and below 50, as in entity:store=10%`,
		"entity:store=50%": `split "entity:store=50%": write a mode and a percentage above 0 and below 50, as in entity:store=10%`,
	} {
		if _, err := ParseSplit(spec); err == nil || err.Error() != want {
			t.Errorf("ParseSplit(%q): %v, want %s", spec, err, want)
		}
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"short": "part\ntrain\ntest\n", "header": "parts\ntrain\n", "value": "part\ntrain\n\ndev\n",
		"differ": "part\ntrain\ntrain\ntest\ntrain\n", "one": "part\ntest\ntest\ntest\ntest\n", "all": "part\ntrain\ntrain\ntrain\ntrain\n", "empty": ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := tableOf(t, "time,y\n1,1\n2,2\n1,3\n3,4\n", Schema{Target: "y", Modes: modes(t, "time"), Duplicates: "sum"})
	for spec, want := range map[string]string{
		"time:last=2":          `split time:last=2: mode time has 3 periods, which leaves none to train on; choose last=1 or less`,
		"time:last=1,mode=tim": `split time:last=1,mode=tim: the table has no mode "tim" (did you mean "time"?); its modes are time`,
		"entity:shop=10%":      `split entity:shop=10%: the table has no mode "shop"; its modes are time`,
		"random:99/1":          `split random:99/1/0: all rows are in the train part (train 3, valid 0, test 0, unused 0); choose another split`,
		"file:none":            `none: no such file; check the path`,
		"file:empty":           `empty: the file is empty; give a table with a header and at least one row`,
		"file:short":           `short: the file has 2 parts, the table has 4 rows; give one line for each row of the table, in its order`,
		"file:header":          `header, line 1, value "parts": the header of a split file is part; let kft split write one`,
		"file:value":           `value, line 4, column "part", value "dev": this is not a part; write train, valid, test or unused`,
		"file:differ":          `differ, column "part", value "test": rows 1 and 3 of the table are one cell (time=1) but this file puts them in different parts; give all rows of a cell the same part, or let kft split write the file`,
		"file:one":             `split file:one: the train part is empty (train 0, valid 0, test 3, unused 0); choose another split`,
		"file:all":             `split file:all: all rows are in the train part (train 3, valid 0, test 0, unused 0); choose another split`,
	} {
		s, err := ParseSplit(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(table, 0); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	few := tableOf(t, "id,y\na,1\nb,2\n", Schema{Target: "y", Modes: modes(t, "id")})
	s, _ := ParseSplit("entity:id=10%")
	if _, err := s.Apply(few, 0); err == nil || err.Error() != "split entity:id=10%: mode id has 2 ids, too few to hold any out; choose another split" {
		t.Errorf("too few ids: %v", err)
	}
}
